"""One login: slowed down after failures, noted in the audit log either way."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from rookery.errors import AuthenticationError
from rookery.server.auth import owners_session
from rookery.server.cookies import check_same_origin, session_of
from rookery.server.services import Services

__all__ = ["log_in", "log_out"]


def log_in(services: Services, request: Request, name: str, password: str) -> dict[str, Any]:
    """The user. In a thread: hashing a password takes its time.

    Raises:
        TooManyTriesError: too many failures at this address or with this name.
        AuthenticationError: name or password are wrong.
    """
    address = request.client.host if request.client and request.client.host else "socket"
    services.tries.check(address, name)
    try:
        user = services.record.people.check_login(name, password)
    except AuthenticationError:
        services.tries.failed(address, name)
        _note(services, request, name, address, 401)
        raise
    services.tries.succeeded(address, name)
    _note(services, request, user["name"], address, 200)
    return user


def log_out(services: Services, request: Request) -> None:
    """Ends the sessions whose cookies come along, the owner's and a user's: whoever has kept a copy of one has nothing.

    Raises:
        ForbiddenError: a page of another site makes the browser do this.
    """
    owners, session = owners_session(services, request), session_of(request)
    if owners is not None or session is not None:
        check_same_origin(request)
    if owners is not None:
        services.record.ended_sessions.end(owners, services.record.tokens.read(owners)["exp"])
    if session is None:
        return
    try:
        found = services.record.people.find(session)
        services.record.people.revoke(found.id)
    except AuthenticationError:
        pass  # over already


def _note(services: Services, request: Request, name: str, address: str, status: int) -> None:
    request_id = request.scope.get("rookery.request_id", "")
    services.record.audit.note(name[:64], "login", request.scope["path"], status, address, request_id)
