"""The way in: MLflow's paths are answered here, all others go on. Paths are looked up, not tried one after the other.

It imports nothing of the handlers until the first of MLflow's clients comes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.server.mlflow.routes import ROUTES, Route

if TYPE_CHECKING:
    from rookery.server.services import Services

__all__ = ["TrackingDoor", "find_route", "is_ours"]

_PREFIXES = ("/api/2.0/", "/api/3.0/", "/ajax-api/2.0/", "/ajax-api/3.0/", "/v1/traces")
_WHOLE = ("/version", "/health", "/__reset")


class TrackingDoor:
    """ASGI middleware, inside of all others."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services
        self._handlers: dict[str, Callable[..., Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_ours(scope["path"]):
            await self._app(scope, receive, send)
            return
        from rookery.server.mlflow.exchange import answer_request

        method, path = scope["method"], scope["path"]
        route, params, allowed = find_route(method, path)
        handler = None if route is None else self._handler(route.handler)
        response = await answer_request(self._services, scope, receive, route, handler, params, allowed)
        await response(scope, receive, send)

    def _handler(self, name: str) -> Callable[..., Any]:
        found = self._handlers.get(name)
        if found is None:
            module, _, function = name.partition(":")
            found = getattr(importlib.import_module("rookery.server.mlflow." + module), function)
            self._handlers[name] = found
        return found


def is_ours(path: str) -> bool:
    """Whether the path is one of MLflow's, answered or not."""
    return path.startswith(_PREFIXES) or path in _WHOLE


def find_route(method: str, path: str) -> tuple[Optional[Route], dict[str, str], list[str]]:
    """(the route, what its path holds, the methods that the path has). The paths of MLflow's own pages are the same ones."""
    plain = "/api/" + path[len("/ajax-api/") :] if path.startswith("/ajax-api/") else path
    asked = "GET" if method == "HEAD" else method
    found = _EXACT.get((asked, plain))
    if found is not None:
        return found, {}, []
    allowed = [route.method for (_, exact), route in _EXACT.items() if exact == plain]
    for pattern, route in _PATTERNS:
        matched = pattern.match(plain)
        if matched and route.method == asked:
            return route, matched.groupdict(), []
        if matched:
            allowed.append(route.method)
    return None, {}, allowed


def _pattern(path: str) -> re.Pattern[str]:
    text = re.sub(r"\{(\w+):path\}", r"(?P<\1>.+)", path)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", text) + r"\Z", re.DOTALL)


_EXACT = {(route.method, route.path): route for route in ROUTES if "{" not in route.path}
_PATTERNS = [(_pattern(route.path), route) for route in ROUTES if "{" in route.path]
