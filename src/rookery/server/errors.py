"""Every error leaves in one shape: {"error": {"code", "message", "details"}}, whatever went wrong and where."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import Any, Optional

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from rookery.errors import AuthenticationError, NotFoundError, RookeryError, ServiceError, UserError
from rookery.server.answers import JsonAnswer, answer

__all__ = ["ForbiddenError", "add_handlers", "error_answer", "internal_error", "plain_error"]

log = logging.getLogger(__name__)
REQUEST_ID: ContextVar[str] = ContextVar("rookery_request_id", default="")  # of the request that this code works for


class ForbiddenError(AuthenticationError):
    """A token that is valid but does not allow this. The same code as no token, another status."""

    http_status = 403


def plain_error(error: RookeryError) -> dict[str, Any]:
    request_id = REQUEST_ID.get()
    details = {**error.details, "request_id": request_id} if request_id else error.details
    return {"error": {"code": error.code, "message": error.message, "details": details}}


def error_answer(error: RookeryError, status: Optional[int] = None) -> JsonAnswer:
    code = status or error.http_status
    headers = {"WWW-Authenticate": "Bearer"} if code == 401 else {}
    if code == 429:
        headers["Retry-After"] = str(error.details.get("retry_after_s", 1))
    return answer(plain_error(error), code, headers)


def internal_error(error: BaseException) -> JsonAnswer:
    """For what nobody foresaw: the traceback goes to the keeper's log, a sentence to the caller."""
    log.error("Internal error", exc_info=error)
    sentence = (
        f"The keeper failed at this request ({type(error).__name__}). Its log, keeper/keeper.log, has the traceback."
    )
    return error_answer(ServiceError(sentence), 500)


def add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(RookeryError, _rookery_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)


async def _rookery_error(_request: Request, error: Exception) -> JsonAnswer:
    assert isinstance(error, RookeryError)
    return error_answer(error)


async def _http_error(request: Request, error: Exception) -> JsonAnswer:
    assert isinstance(error, HTTPException)
    path = request.url.path[:200]
    if error.status_code == 404:
        return error_answer(
            NotFoundError(f"There is nothing at {path}. The API is below /api/v1; see docs/inside/protocol.md."),
            404,
        )
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        found = error_answer(UserError(f"{request.method} is not possible at {path}. Allowed: {allowed}."), 405)
        found.headers["Allow"] = allowed
        return found
    return error_answer(UserError(str(error.detail)), error.status_code)


async def _validation_error(_request: Request, error: Exception) -> JsonAnswer:
    assert isinstance(error, RequestValidationError)
    problems = [{"field": ".".join(str(p) for p in e["loc"]), "message": e["msg"]} for e in error.errors()]
    words = "; ".join(f"{p['field']}: {p['message']}" for p in problems[:5])
    return error_answer(UserError(f"The request is not valid: {words}.", details={"problems": problems[:50]}), 422)
