"""Logging in and out: with a cookie for browsers, for a token for programs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking
from rookery.server.cookies import check_same_origin, clear_cookie, owner_cookie, set_cookie
from rookery.server.entry import VALID_S
from rookery.server.errors import ForbiddenError
from rookery.server.login import log_in, log_out
from rookery.server.schemas_people import Login, LoginForToken
from rookery.server.services import Served
from rookery.settings import get_setting

__all__ = ["open_router", "router"]

open_router = APIRouter(tags=["session"])  # no token needed: these give one
router = APIRouter(tags=["session"])


@open_router.post("/session", status_code=201)
def open_session(login: Login, request: Request, services: Served) -> JsonAnswer:
    """Sets the cookie of a session."""
    _check_browser(request)
    user = log_in(services, request, login.name, login.password)
    seconds = get_setting("session_hours", services.paths.root) * 3600
    made = services.record.people.make_token(user["name"], "browser", seconds, "session")
    response = answer(_me(user, made), 201)
    set_cookie(response, request, made["token"], seconds, services.prefix)
    return response


@open_router.post("/session/token", status_code=201)
def log_in_for_token(login: LoginForToken, request: Request, services: Served) -> JsonAnswer:
    """A token of the user, for `rookery login`. It is shown in this answer and never again."""
    user = log_in(services, request, login.name, login.password)
    days = get_setting("user_token_days", services.paths.root) if login.days is None else login.days
    made = services.record.people.make_token(user["name"], login.token_name, days * 86400)
    return answer({**_me(user, made), "token": made["token"], "id": made["id"]}, 201)


@router.post("/session/code", status_code=201)
def make_entry_code(services: Served, asking: Asking) -> JsonAnswer:
    """A code that logs a browser in once, within a minute, with the rights of whoever asks: for `rookery studio`."""
    if asking.kind not in ("owner", "user"):
        raise ForbiddenError(f"Only people enter the studio; this token is of {asking}.")
    code = services.entry.make(asking)
    return answer({"code": code, "path": f"{services.prefix}/enter?code={code}", "expires_s": VALID_S}, 201)


@open_router.delete("/session")
def close_session(request: Request, services: Served) -> JsonAnswer:
    """Ends the session whose cookie comes along; harmless without one."""
    log_out(services, request)
    response = answer({})
    clear_cookie(response, request, services.prefix)
    clear_cookie(response, request, services.prefix, owner_cookie(services.identity["id"]))
    return response


def _check_browser(request: Request) -> None:
    """Another site must not log somebody in as somebody else. Programs send no Origin and get no harm done."""
    if request.headers.get("origin") is not None:
        check_same_origin(request)


def _me(user: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    return {"name": user["name"], "role": user["role"], "expires_utc": made["expires_utc"]}
