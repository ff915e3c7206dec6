"""What is not below /api/v1: for people's browsers, for Prometheus, for whoever asks whether this lives."""

from __future__ import annotations

import secrets
import time

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from rookery.errors import AuthenticationError, RookeryError, TooManyTriesError
from rookery.server.answers import answer
from rookery.server.cookies import check_same_origin, clear_cookie, owner_cookie, set_cookie
from rookery.server.services import Served
from rookery.server.studio import asset_answer, safe_path, studio_page
from rookery.settings import get_setting

__all__ = ["open_router", "router"]

open_router = APIRouter(include_in_schema=False)  # no token needed
router = APIRouter(include_in_schema=False)
MOST_FORM_BYTES = 16 * 1024


@open_router.get("/healthz")
def get_health(services: Served) -> Response:
    """200 while the keeper and its database answer, 503 otherwise."""
    try:
        services.record.numbers.is_well()
    except RookeryError as error:
        return answer({"status": "failing", "reason": error.code}, 503)
    return answer({"status": "leaving" if services.leaving else "ok"}, 503 if services.leaving else 200)


@router.get("/metrics")
def get_prometheus(services: Served) -> Response:
    from rookery.server.metrics import CONTENT_TYPE, prometheus_text

    return Response(prometheus_text(services), headers={"Content-Type": CONTENT_TYPE})


@open_router.get("/")
def get_start(request: Request, services: Served) -> Response:
    """The studio, for whoever is logged in; everybody else is sent to the login."""
    return studio_page(services, request)


@open_router.get("/assets/{name}")
def get_asset(name: str, request: Request) -> Response:
    return asset_answer(name, request)


@open_router.get("/favicon.svg")
def get_icon(request: Request) -> Response:
    return asset_answer("favicon.svg", request, "")


@open_router.get("/theme.js")
def get_theme_script(request: Request) -> Response:
    return asset_answer("theme.js", request, "")


@open_router.get("/enter")
def enter(request: Request, services: Served, code: str = "", to: str = "/") -> Response:
    """Takes a code of POST /session/code and makes it a session; where it is no good, the login is next."""
    goal = safe_path(to)
    # Another site must not log somebody in as somebody else. Addresses from a terminal come from no site.
    principal = None if request.headers.get("sec-fetch-site") == "cross-site" else services.entry.take(code)
    if principal is None:
        return studio_page(services, request) if goal == "/" else RedirectResponse(services.prefix + goal, 303)
    response = RedirectResponse(services.prefix + goal, 303, headers={"Cache-Control": "no-store"})
    if principal.kind == "user":
        seconds = get_setting("session_hours", services.paths.root) * 3600
        token = services.record.people.make_token(principal.name or "", "browser", seconds, "session")["token"]
        clear_cookie(response, request, services.prefix, owner_cookie(services.identity["id"]))
        set_cookie(response, request, token, seconds, services.prefix)
        return response
    seconds = get_setting("studio_session_hours", services.paths.root) * 3600
    token = services.record.tokens.make("", "session", time.time() + seconds, pass_id=secrets.token_hex(8))
    set_cookie(response, request, token, seconds, services.prefix, owner_cookie(services.identity["id"]))
    return response


@open_router.get("/login")
def show_login(services: Served, to: str = "/") -> Response:
    from rookery.server import pages

    return pages.login_page(services.identity["name"], services.record.people.count() > 0, to=safe_path(to))


@open_router.post("/login")
async def take_login(request: Request, services: Served) -> Response:
    """The form of the page."""
    check_same_origin(request)
    given = await _form(request)
    goal = safe_path(given.get("to"))
    return await run_in_threadpool(_log_in, request, services, given.get("name", ""), given.get("password", ""), goal)


@open_router.post("/logout")
def take_logout(request: Request, services: Served) -> Response:
    from rookery.server.login import log_out

    log_out(services, request)
    response = RedirectResponse(f"{services.prefix}/login", 303)
    clear_cookie(response, request, services.prefix)
    clear_cookie(response, request, services.prefix, owner_cookie(services.identity["id"]))
    return response


def _log_in(request: Request, services: Served, name: str, password: str, goal: str) -> Response:
    from rookery.server import pages
    from rookery.server.login import log_in

    workspace = services.identity["name"]
    try:
        user = log_in(services, request, name, password)
    except TooManyTriesError as error:
        page = pages.login_page(workspace, True, error.message, name, 429, goal)
        page.headers["Retry-After"] = str(error.details["retry_after_s"])
        return page
    except AuthenticationError as error:
        return pages.login_page(workspace, True, error.message, name, 401, goal)
    seconds = get_setting("session_hours", services.paths.root) * 3600
    token = services.record.people.make_token(user["name"], "browser", seconds, "session")["token"]
    response = RedirectResponse(services.prefix + goal, 303)
    clear_cookie(response, request, services.prefix, owner_cookie(services.identity["id"]))
    set_cookie(response, request, token, seconds, services.prefix)
    return response


async def _form(request: Request) -> dict[str, str]:
    from urllib.parse import parse_qsl

    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_FORM_BYTES:
            return {}
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=10))
    except ValueError:
        return {}
