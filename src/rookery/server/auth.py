"""Who asks, and what they may. All rules are here.

Owner: everything. A run's token (kind run or agent): reads everything, writes what RULES says. What RULES
does not name is the
owner's alone, so a new route is closed until somebody opens it here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Optional

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.errors import AuthenticationError
from rookery.server.errors import ForbiddenError, error_answer
from rookery.server.services import Services
from rookery.spec.protocol import PREFIX

__all__ = ["AGENTS", "LISTENER", "AgentsGate", "Asking", "Principal", "authorize", "check_parent"]

READS = ("GET", "HEAD")
LISTENER = "rookery.listener"  # in a request's scope: which door it came through, where that is not the main one
AGENTS = "agents"  # of the listener for agents, and of the spool: takes the tokens of runs, nobody else's


@dataclass(frozen=True)
class Principal:
    """kind: owner, run or agent; the last two have a run."""

    kind: str
    run_id: Optional[str] = None

    @property
    def is_owner(self) -> bool:
        return self.kind == "owner"

    def __str__(self) -> str:
        return "owner" if self.is_owner else f"run {self.run_id}"


async def authorize(request: Request) -> Principal:
    """The principal, when the request is allowed. A dependency of every route but /hello."""
    services: Services = request.app.state.services
    principal = authenticate(services, request)
    if principal.is_owner:
        return principal
    rule = RULES.get((request.method, _template(request)))
    if rule is None:
        if request.method not in READS:
            raise ForbiddenError(
                f"The token of run '{principal.run_id}' does not allow {request.method} {request.url.path[:200]}."
            )
        return principal
    await rule(services, principal, request.path_params)
    return principal


def authenticate(services: Services, request: Request) -> Principal:
    """Who this is. A token counts wherever it comes from; without one only the unix socket is the owner's."""
    for_agents = request.scope.get(LISTENER) == AGENTS
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        if is_unix_socket(request.scope) and not for_agents:
            return Principal("owner")
        raise AuthenticationError(
            "This address is for agents: it needs the token of a run (`Authorization: Bearer rkr_…`)."
            if for_agents
            else "This address needs a token: send `Authorization: Bearer <token>`. `rookery token` shows yours."
        )
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise AuthenticationError("The Authorization header is not `Bearer <token>`.")
    if services.record.tokens.is_owner(token):
        if for_agents:
            raise ForbiddenError(
                "This address is for agents: it takes the tokens of runs only, not the owner's. People use the "
                "workspace's folder, or the address of `rookery server`. Do not send that token here again."
            )
        return Principal("owner")
    claims = services.record.tokens.read(token)
    return Principal(claims["kind"], claims["run"])


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
    """A run creates runs, and registers models, only of its own family."""
    if principal.is_owner or run_id == principal.run_id:
        return
    if run_id is None or not services.record.runs.is_within(run_id, principal.run_id or ""):
        raise ForbiddenError(
            f"The token of run '{principal.run_id}' allows this only for that run and its children, "
            f"not for {run_id!r:.80}."
        )


async def _own_run(services: Services, principal: Principal, params: dict[str, Any]) -> None:
    if params.get("run_id") != principal.run_id:
        await run_in_threadpool(check_parent, services, principal, params.get("run_id"))


async def _own_agent(services: Services, principal: Principal, params: dict[str, Any]) -> None:
    if principal.kind != "agent" or params.get("run_id") != principal.run_id:
        raise ForbiddenError(
            f"Only the agent of run '{params.get('run_id')!s:.80}' may do this; the token is of {principal}."
        )


async def _anyone(services: Services, principal: Principal, params: dict[str, Any]) -> None:
    """Content and snapshots are named by their hash: who adds some changes nothing. Others check their body
    themselves.
    """


_AGENT = "/agent/{run_id}/{attempt}/{node}/"
Rule = Callable[[Services, Principal, dict[str, Any]], Awaitable[None]]
# (method, route) → what a run's token must fulfil.
RULES: dict[tuple[str, str], Rule] = {
    ("POST", "/runs"): _anyone,  # the handler checks the parent
    ("PATCH", "/runs/{run_id}"): _own_run,
    ("POST", "/runs/{run_id}/cancel"): _own_run,
    ("POST", "/runs/{run_id}/status"): _own_run,
    ("POST", "/runs/{run_id}/records"): _own_run,
    ("PUT", "/runs/{run_id}/artifacts/{name:path}"): _own_run,
    ("POST", "/runs/{run_id}/artifacts"): _own_run,
    ("POST", "/content/missing"): _anyone,
    ("PUT", "/content/{sha256}"): _anyone,
    ("POST", "/content/pack"): _anyone,
    ("POST", "/snapshots"): _anyone,
    ("POST", "/environments"): _anyone,  # a version is added, none is changed
    ("POST", "/environments/builds"): _anyone,
    ("POST", "/environments/prepared"): _anyone,
    ("POST", "/environments/specifications"): _anyone,  # reads what it is given, keeps nothing
    ("POST", "/models"): _anyone,  # the handler checks the run
    **{
        ("POST", _AGENT + verb): _own_agent
        for verb in ("hello", "rendezvous", "running", "beat", "journal", "log", "outcome", "finished")
    },
    ("GET", _AGENT + "commands"): _own_agent,
    ("GET", _AGENT + "rendezvous"): _own_agent,
    ("GET", _AGENT + "job"): _own_agent,
    ("GET", _AGENT + "checkpoints"): _own_agent,
    **{(method, _AGENT + "checkpoints/{name:path}"): _own_agent for method in ("GET", "PUT", "DELETE")},
}


def _template(request: Request) -> str:
    """The route's pattern below /api/v1."""
    path = getattr(request.scope.get("route"), "path", "")
    return path[len(PREFIX) :] if path.startswith(PREFIX) else path


Asking = Annotated[Principal, Depends(authorize)]
