"""The session cookie, and how a request that carries it is told from one that another site made a browser send."""

from __future__ import annotations

from typing import Any, Optional
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from rookery.server.errors import ForbiddenError

__all__ = ["COOKIE", "check_same_origin", "clear_cookie", "owner_cookie", "session_of", "set_cookie"]

COOKIE = "rookery_session"
SAFE = ("GET", "HEAD", "OPTIONS")


def session_of(request: HTTPConnection) -> Optional[str]:
    return request.cookies.get(COOKIE) or None


def owner_cookie(workspace_id: str) -> str:
    """The cookie of the owner's session. It has the workspace in its name: cookies know no ports, and a machine may have several keepers."""
    return f"rookery_studio_{workspace_id.replace('-', '')[:12]}"


def set_cookie(
    response: Any, request: HTTPConnection, token: str, seconds: float, prefix: str, name: str = COOKIE
) -> None:
    """Out of reach of scripts; not sent along with what other sites start, except for plain links here."""
    response.set_cookie(
        name,
        token,
        max_age=int(seconds),
        path=prefix or "/",
        httponly=True,
        samesite="lax",
        secure=request.scope.get("scheme") == "https",
    )


def clear_cookie(response: Any, request: HTTPConnection, prefix: str, name: str = COOKIE) -> None:
    response.delete_cookie(
        name, path=prefix or "/", httponly=True, samesite="lax", secure=request.scope.get("scheme") == "https"
    )


def check_same_origin(request: HTTPConnection) -> None:
    """ForbiddenError unless this surely comes from a page of ours: browsers say so in headers that pages cannot set."""
    origin = request.headers.get("origin")
    if origin is not None:
        ours = (request.scope.get("scheme", "http"), request.headers.get("host", "").lower())
        parts = urlsplit(origin)
        if (parts.scheme, parts.netloc.lower()) == ours:
            return
    elif request.headers.get("sec-fetch-site") == "same-origin":
        return
    raise ForbiddenError(
        f"With the cookie of a login only pages of this server may change something; this came from {origin or 'elsewhere'!r:.120}. "
        "Programs send `Authorization: Bearer <token>` instead."
    )
