"""The studio's files: its page for every address that is none of the API's, and its assets, compressed when they were built.

`make studio` builds them into `static/` beside this file; wheels hold them. Where nothing is built a plain page says how.
"""

from __future__ import annotations

import html
import os
import re
from typing import Optional

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.errors import AuthenticationError, NotFoundError
from rookery.server.auth import AGENTS, LISTENER, authenticate
from rookery.server.services import Services

__all__ = ["STATIC", "StudioDoor", "asset_answer", "is_built", "studio_page"]

STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
# Paths below these are for programs: what is not there is an error in JSON, never a page.
_NOT_PAGES = ("/api/", "/ajax-api/", "/assets/", "/metrics", "/healthz", "/__reset", "/graphql", "/get-artifact")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}\Z")
_TYPES = {
    ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
    ".woff2": "font/woff2", ".json": "application/json", ".wasm": "application/wasm",
}  # fmt: skip
# Nothing inline, nothing evaluated, nothing from elsewhere. Pictures of runs may be made in the page (blob:, data:).
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'; frame-src 'self' blob:"
)
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FOREVER = "public, max-age=31536000, immutable"  # the name of such a file has the hash of its content


def is_built() -> bool:
    return os.path.exists(os.path.join(STATIC, "index.html"))


def studio_page(services: Services, request: Request) -> Response:
    """The page for whoever is logged in; everybody else is sent to the login, and from there back to this address."""
    try:
        authenticate(services, request)
    except AuthenticationError:
        return RedirectResponse(f"{services.prefix}/login{_back_to(request)}", 303)
    if not is_built():
        from rookery.server import pages

        return pages.unbuilt_page(services.prefix, services.identity["name"])
    with open(os.path.join(STATIC, "index.html"), encoding="utf-8") as f:
        text = f.read()
    # All of the page's addresses are relative to this, so it works at any depth and behind any proxy.
    base = f'<base href="{html.escape(services.prefix)}/">'
    # Where its stream begins: what happens before that is open, after the page has asked, would be told to nobody.
    after = f'<meta name="rookery-after" content="{services.record.events.last_seq()}">'
    return HTMLResponse(text.replace("<head>", "<head>" + base + after, 1), headers=_HEADERS)


def asset_answer(name: str, request: Request, folder: str = "assets") -> Response:
    """One built file, in the smallest form that the browser takes. Open to all: there is nothing of anybody's in it.

    Raises:
        NotFoundError: there is none of that name.
    """
    path = os.path.join(STATIC, folder, name)
    if not _NAME.match(name) or not os.path.isfile(path):
        raise NotFoundError(
            f"There is no file {name!r:.120} of the studio. Reload the page: it may be of an older version."
        )
    headers = {"Cache-Control": _FOREVER if folder else "no-cache", "X-Content-Type-Options": "nosniff"}
    found = path
    for ending, coding in ((".br", "br"), (".gz", "gzip")):
        if os.path.exists(path + ending):
            headers["Vary"] = "Accept-Encoding"
            if _takes(request, coding):
                found, headers["Content-Encoding"] = path + ending, coding
                break
    return FileResponse(
        found, media_type=_TYPES.get(os.path.splitext(name)[1], "application/octet-stream"), headers=headers
    )


class StudioDoor:
    """What the router falls back to: an address that a browser asks for as a page, and that is no route, is the studio's.
    Its own router then finds the page, or says that there is none."""

    def __init__(self, otherwise: ASGIApp, services: Services) -> None:
        self._otherwise, self._services = otherwise, services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and _is_page(scope):
            await studio_page(self._services, Request(scope))(scope, receive, send)
            return
        await self._otherwise(scope, receive, send)


def safe_path(given: Optional[str]) -> str:
    """A path of this server to go to after a login, whatever the address said: `/` for anything else."""
    if not given or not re.match(r"/(?![/\\])[\x21-\x7e]{0,2000}\Z", given) or "\\" in given:
        return "/"
    return given


def _is_page(scope: Scope) -> bool:
    if scope.get(LISTENER) == AGENTS:
        return False
    path = scope["path"]
    if any(path == known.rstrip("/") or path.startswith(known.rstrip("/") + "/") for known in _NOT_PAGES):
        return False
    accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return b"text/html" in accept


def _back_to(request: Request) -> str:
    from urllib.parse import quote

    path = request.scope["path"]
    query = request.scope.get("query_string", b"").decode("latin-1")
    if path == "/" and not query:
        return ""
    return "?to=" + quote(quote(path) + (f"?{query}" if query else ""), safe="")


def _takes(request: Request, coding: str) -> bool:
    accepted = request.headers.get("accept-encoding", "")
    return any(
        part.split(";")[0].strip() == coding
        for part in accepted.split(",")
        if "q=0" not in part.replace(" ", "").split(";")[-1:]
    )
