"""Routes whose modules are imported when one of their paths is first asked for: a keeper starts sooner, and is smaller, without
those that nobody uses."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.spec.protocol import PREFIX

__all__ = ["LateDoor", "LateRoutes"]

Row = tuple[str, tuple[str, ...]]


class LateRoutes:
    """The modules of `rookery.server.routes` by name, each with the first parts of its paths below /api/v1.

    Promises: the order of the routes is that of the table, whatever is asked for first; a part that no row names has all of them
    loaded, so that a forgotten one costs time and nothing else. To be used in the event loop.
    """

    def __init__(self, app: FastAPI, table: Sequence[Row], include: Callable[[FastAPI, Any], None]) -> None:
        self._app, self._table, self._include = app, tuple(table), include
        self._first = len(app.router.routes)  # those before are there already
        self._loaded: dict[str, list[Any]] = {}
        self._known = {part for _, parts in table for part in parts}

    def load_for(self, path: str) -> None:
        """Whatever answers this path is there afterwards."""
        if len(self._loaded) == len(self._table) or not path.startswith(PREFIX + "/"):
            return
        part = path[len(PREFIX) + 1 :].partition("/")[0]
        self._load([name for name, parts in self._table if part in parts or part not in self._known])

    def load_all(self) -> None:
        self._load([name for name, _ in self._table])

    def _load(self, names: list[str]) -> None:
        new = [name for name in names if name not in self._loaded]
        for name in new:
            module = importlib.import_module("rookery.server.routes." + name)
            routes = self._app.router.routes
            before = len(routes)
            self._include(self._app, module)
            self._loaded[name] = routes[before:]
        if new:
            ordered = [route for name, _ in self._table for route in self._loaded.get(name, ())]
            self._app.router.routes[self._first :] = ordered


class LateDoor:
    """ASGI middleware, right before the router."""

    def __init__(self, app: ASGIApp, late: LateRoutes) -> None:
        self._app, self._late = app, late

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._late.load_for(scope["path"])
        await self._app(scope, receive, send)
