"""The outermost layer: where a request really comes from, its id, and what is remembered of it afterwards (numbers, the audit
log, a line in the log)."""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rookery.server.auth import AUDITED, PRINCIPAL, route_template
from rookery.server.errors import REQUEST_ID
from rookery.server.rules import RULES

if TYPE_CHECKING:
    from rookery.server.services import Services

__all__ = ["Reception", "parse_proxies"]

_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}\Z")
_Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
log = logging.getLogger("rookery.requests")


def parse_proxies(text: str) -> tuple[_Network, ...]:
    """Addresses and networks of proxies whose word counts, from a comma list. ValueError for what is none."""
    return tuple(ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())


class Reception:
    """ASGI middleware around everything, the front too."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        services = self._services
        headers = dict(reversed(scope["headers"]))  # the first of a name stands
        if services.prefix:
            _strip(scope, services.prefix)
        if services.proxies:
            _believe(scope, headers, services.proxies)
        request_id = _request_id(headers)
        scope["rookery.request_id"] = request_id
        mark = REQUEST_ID.set(request_id)
        started = time.perf_counter()
        told = (b"x-request-id", request_id.encode("ascii"))
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), told]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            REQUEST_ID.reset(mark)
            self._remember(scope, status or 499, time.perf_counter() - started, request_id)

    def _remember(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        method = scope["method"]
        template = _template(scope)
        self._services.requests.add(method, template, status, seconds)
        who = scope.get(PRINCIPAL)
        action = scope.get(AUDITED)
        if action is not None and who is not None:
            self._services.record.audit.note(str(who), action, scope["path"], status, _address(scope), request_id)
        if self._services.logs_requests:
            access = RULES.get((method, template))
            if status < 400 and access is not None and access.run == "agent":
                return  # agents say something every few seconds
            log.log(
                logging.ERROR if status >= 500 else logging.INFO,
                "%s %s %s",
                method,
                scope["path"],
                status,
                extra={
                    "request_id": request_id,
                    "method": method,
                    "path": scope["path"][:500],
                    "route": template,
                    "status": status,
                    "duration_ms": round(seconds * 1000, 2),
                    "who": str(who) if who is not None else None,
                    "address": _address(scope),
                },
            )


def _request_id(headers: dict[bytes, bytes]) -> str:
    """The caller's own, where it is harmless, so that it can be followed from one program to the next."""
    given = headers.get(b"x-request-id", b"")
    return given.decode("ascii") if _GIVEN_ID.match(given) else secrets.token_hex(8)


def _template(scope: Scope) -> str:
    found = route_template(scope)
    if found:
        return found
    from rookery.server.mlflow.door import find_route, is_ours

    if is_ours(scope["path"]):
        route = find_route(scope["method"], scope["path"])[0]
        if route is not None:
            return route.path
    return "none"  # never the path itself: strangers would fill the memory with names


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client and client[0] else "socket"


def _strip(scope: Scope, prefix: str) -> None:
    """A proxy may take the prefix away before it asks us, or leave it."""
    path = scope["path"]
    if path == prefix or path.startswith(prefix + "/"):
        scope["path"] = path[len(prefix) :] or "/"
        raw = scope.get("raw_path")
        if raw:
            scope["raw_path"] = raw[len(prefix) :] or b"/"


def _believe(scope: Scope, headers: dict[bytes, bytes], proxies: Sequence[_Network]) -> None:
    """What a proxy that we were told of says about who asked it: address, scheme, host."""
    client = scope.get("client")
    if not client or not _is_in(client[0], proxies):
        return
    hops = [part.strip() for part in headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",") if part.strip()]
    # From the right: each was added by the one after it, and is true as far as those are ours.
    for hop in reversed(hops):
        scope["client"] = (hop[:64], 0)
        if not _is_in(hop, proxies):
            break
    scheme = headers.get(b"x-forwarded-proto", b"").split(b",")[-1].strip().decode("latin-1").lower()
    if scheme in ("http", "https"):
        scope["scheme"] = scheme
    host = headers.get(b"x-forwarded-host", b"").split(b",")[-1].strip()
    if host:
        scope["headers"] = [(k, v) for k, v in scope["headers"] if k != b"host"] + [(b"host", host)]


def _is_in(address: Any, networks: Sequence[_Network]) -> bool:
    try:
        found = ipaddress.ip_address(str(address))
    except ValueError:
        return False
    return any(found in network for network in networks)


def current_request_id() -> Optional[str]:
    """Of the request that this code works for."""
    return REQUEST_ID.get() or None
