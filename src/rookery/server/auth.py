"""Who asks, and what they may. The rules are in `rules.py`, one row per route.

Owner (of the socket, of `keeper/token`, or a user of that role): everything. Other users: what their role may. A run's token (kind
run or agent): reads, and writes what the rules say. What they do not name is the owner's alone, so a new route is closed
until somebody opens it there.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Any, Optional

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.errors import AuthenticationError
from rookery.record.people import ROLES, SESSION_PREFIX, TOKEN_PREFIX
from rookery.server.cookies import SAFE, check_same_origin, owner_cookie, session_of
from rookery.server.errors import ForbiddenError, error_answer
from rookery.server.rules import RULES, Access
from rookery.server.services import Services
from rookery.spec.protocol import PREFIX

__all__ = [
    "AGENTS",
    "AUDITED",
    "LISTENER",
    "PRINCIPAL",
    "RULES",
    "AgentsGate",
    "Asking",
    "Principal",
    "authorize",
    "check_parent",
    "find_refusal",
    "is_still_let_in",
    "owners_session",
]

PRINCIPAL = "rookery.principal"  # in a request's scope, once it is known: who asks
AUDITED = "rookery.audited"  # in a request's scope: what the audit log is to call it
LISTENER = "rookery.listener"  # in a request's scope: which door it came through, where that is not the main one
AGENTS = "agents"  # of the listener for agents, and of the spool: takes the tokens of runs, nobody else's


@dataclass(frozen=True)
class Principal:
    """kind: owner, user, run, agent, track or nobody. A user has a name and a role, so has `track` where a user asked for it;
    `run` and `agent` have a run."""

    kind: str
    run_id: Optional[str] = None
    name: Optional[str] = None
    role: Optional[str] = None
    pass_id: Optional[str] = None  # of the user's token or session
    session: Optional[str] = None  # of the owner's browser: what its cookie holds

    @property
    def is_owner(self) -> bool:
        return self.kind == "owner" or (self.kind == "user" and self.role == "owner")

    def may(self, least: str) -> bool:
        """Whether a user (or the owner) has this role, or one that includes it."""
        if least == "nobody" or self.is_owner:
            return True
        return self.role in ROLES and ROLES.index(self.role or "") >= ROLES.index(least)

    def __str__(self) -> str:
        return self.name or (
            f"run {self.run_id}" if self.run_id else "a tracker" if self.kind == "track" else self.kind
        )


async def authorize(request: Request) -> Principal:
    """The principal, when the request is allowed. A dependency of every route but the open ones."""
    services: Services = request.app.state.services
    principal = authenticate(services, request)
    template = route_template(request.scope)
    access = RULES.get((request.method, template), Access("owner"))
    request.scope[PRINCIPAL] = principal
    if request.method not in SAFE and not access.quiet and principal.run_id is None:
        request.scope[AUDITED] = f"{request.method} {template}"
    if services.record.people.is_use_waiting():
        await run_in_threadpool(services.record.people.store_uses)
    if principal.is_owner:
        return principal
    if principal.kind == "track":
        raise ForbiddenError("A tracking token is for MLflow's calls only. `rookery token` shows one for this.")
    if principal.kind == "user":
        if not principal.may(access.least):
            raise ForbiddenError(
                f"User '{principal}' is a {principal.role}; {request.method} {request.url.path[:200]} needs the role "
                f"{access.least}. An owner changes it with `rookery user role {principal} {access.least}`."
            )
        return principal
    await _check_run(services, principal, access, request)
    return principal


async def _check_run(services: Services, principal: Principal, access: Access, request: Request) -> None:
    """Whether the token of a run allows this."""
    run_id = request.path_params.get("run_id")
    if access.run == "any":
        return
    if access.run == "own":
        if run_id != principal.run_id:
            await run_in_threadpool(check_parent, services, principal, run_id)
        return
    if access.run == "agent":
        if principal.kind == "agent" and run_id == principal.run_id:
            return
        raise ForbiddenError(f"Only the agent of run '{run_id!s:.80}' may do this; the token is of {principal}.")
    raise ForbiddenError(
        f"The token of run '{principal.run_id}' does not allow {request.method} {request.url.path[:200]}."
    )


def authenticate(services: Services, request: Request) -> Principal:
    """Who this is. A token counts wherever it comes from; without one only the unix socket is the owner's."""
    for_agents = request.scope.get(LISTENER) == AGENTS
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        session = None if for_agents else session_of(request)
        owners = None if for_agents else owners_session(services, request)
        if owners is not None:
            if request.method not in SAFE:
                check_same_origin(request)
            return Principal("owner", session=owners)
        if session is not None:
            return _by_cookie(services, request, session)
        if is_unix_socket(request.scope) and not for_agents:
            return Principal("owner")
        raise AuthenticationError(
            "This address is for agents: it needs the token of a run (`Authorization: Bearer rkr_…`)."
            if for_agents
            else "This address needs a token: send `Authorization: Bearer <token>`. `rookery token` shows yours."
        )
    token = _from_basic(token) if scheme.lower() == "basic" else token.strip()
    if scheme.lower() not in ("bearer", "basic") or not token:
        raise AuthenticationError("The Authorization header is not `Bearer <token>`.")
    if services.record.tokens.is_owner(token):
        if for_agents:
            raise ForbiddenError(
                "This address is for agents: it takes the tokens of runs only, not the owner's. People use the "
                "workspace's folder, or the address of `rookery server`. Do not send that token here again."
            )
        return Principal("owner")
    if token.startswith((TOKEN_PREFIX, SESSION_PREFIX)):
        if for_agents:
            raise ForbiddenError("This address is for agents: it takes the tokens of runs only, not those of users.")
        return _of_user(services, token)
    claims = services.record.tokens.read(token)
    if claims["kind"] == "session":
        raise AuthenticationError("This is the cookie of a browser's session, not a token. `rookery token` shows one.")
    if for_agents and claims["kind"] == "track":
        raise ForbiddenError("This address is for agents: it takes the tokens of runs only.")
    if claims["kind"] == "track":
        return _of_tracker(services, claims)
    return Principal(claims["kind"], claims["run"] or None)


def owners_session(services: Services, request: HTTPConnection) -> Optional[str]:
    """What the cookie holds that `rookery studio` has got for the owner's browser, where it came along and is still good."""
    given = request.cookies.get(owner_cookie(services.identity["id"]))
    if not given:
        return None
    try:
        is_good = services.record.tokens.read(given)["kind"] == "session"
    except AuthenticationError:
        return None
    return given if is_good and not services.record.ended_sessions.is_ended(given) else None


def _by_cookie(services: Services, request: Request, session: str) -> Principal:
    principal = _of_user(services, session)
    if request.method not in SAFE:
        check_same_origin(request)
    return principal


def _of_user(services: Services, token: str) -> Principal:
    found = services.record.people.find(token)
    return Principal("user", name=found.user, role=found.role, pass_id=found.id)


def _of_tracker(services: Services, claims: dict[str, Any]) -> Principal:
    """A user's tracking token ends with the token or session that it was asked for with, and may what the user may now."""
    by, pass_id = claims.get("by", ""), claims.get("pass", "")
    if by in ("", "owner"):
        return Principal("track", name=by or None)
    try:
        found = services.record.people.find_pass(pass_id)
    except AuthenticationError:
        raise AuthenticationError(
            "The tracking token has ended with the token or session that it was asked for with. Log in again, then ask for "
            "another address: ws.get_mlflow_tracking_uri()."
        ) from None
    return Principal("track", name=found.user, role=found.role, pass_id=found.id)


def find_refusal(services: Services, scope: Scope) -> Optional[AuthenticationError]:
    """Why whoever asks is nobody that is known here; None where it is somebody."""
    try:
        authenticate(services, Request(scope))
    except AuthenticationError as error:
        return error
    return None


def is_still_let_in(services: Services, principal: Principal) -> bool:
    """Whether the token or session that a long answer began with has not ended meanwhile."""
    if principal.session is not None:
        return not services.record.ended_sessions.is_ended(principal.session)
    if principal.pass_id is None:
        return True
    try:
        services.record.people.find_pass(principal.pass_id)
    except AuthenticationError:
        return False
    return True


def _from_basic(credentials: str) -> str:
    """The token of `user:token@address`, which clients send this way; the user's name says nothing."""
    try:
        return base64.b64decode(credentials.strip(), validate=True).decode("utf-8").partition(":")[2]
    except (ValueError, binascii.Error):
        return ""


class AgentsGate:
    """ASGI middleware: of what comes for agents, lets in /hello and what carries the token of a run, before anything
    else is looked at. Routes then ask again what that token may."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get(LISTENER) == AGENTS and scope["path"] != PREFIX + "/hello":
            try:
                authenticate(self._services, Request(scope))
            except AuthenticationError as error:
                await error_answer(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_unix_socket(scope: Any) -> bool:
    """Whether the request came through the socket file, which only the owner can open."""
    server = scope.get("server")
    return bool(server) and server[1] is None and str(server[0]).startswith("/")


def check_parent(services: Services, principal: Principal, run_id: Optional[str]) -> None:
    """A run creates runs, and registers models, only of its own family. Others were let in for all."""
    if principal.run_id is None or run_id == principal.run_id:
        return
    if run_id is None or not services.record.runs.is_within(run_id, principal.run_id or ""):
        raise ForbiddenError(
            f"The token of run '{principal.run_id}' allows this only for that run and its children, "
            f"not for {run_id!r:.80}."
        )


def route_template(scope: Any) -> str:
    """The route's pattern, below /api/v1 where it is there."""
    path = getattr(scope.get("route"), "path", "")
    return path[len(PREFIX) :] if path.startswith(PREFIX) else path


Asking = Annotated[Principal, Depends(authorize)]
