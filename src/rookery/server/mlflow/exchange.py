"""One request of an MLflow client: who asks, what with, the handler, the answer in MLflow's shape."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, Optional
from urllib.parse import parse_qs

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope

from rookery.server.mlflow.access import admit
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.errors import MlflowError, invalid, translated
from rookery.server.mlflow.routes import Route
from rookery.server.services import Services

__all__ = ["answer_request"]

# What the client says it can read; bodies of files are never parsed.
_RAW = ("artifacts:upload", "traces:take_spans")


async def answer_request(
    services: Services,
    scope: Scope,
    receive: Receive,
    route: Optional[Route],
    handler: Optional[Callable[..., Any]],
    params: dict[str, str],
    allowed: list[str],
) -> Response:
    request = Request(scope, receive)
    try:
        if route is None or handler is None:
            raise _unknown(scope, allowed)
        principal = admit(services, request, route)
        if inspect.iscoroutinefunction(handler):
            call = Call(services, principal, _query(scope) if route.handler in _RAW else {}, params, request)
            return _encoded(await handler(call))
        body = b"" if scope["method"] in ("GET", "HEAD") else await request.body()
        return await run_in_threadpool(_handle, handler, services, principal, scope, body, params, request)
    except HTTPException:
        raise  # the front's: too large a body
    except Exception as error:
        return failed(error)


def failed(error: Exception) -> Response:
    plain = translated(error)
    response = _json(plain.plain(), plain.status)
    if plain.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _handle(
    handler: Callable[[Call], Any],
    services: Services,
    principal: Any,
    scope: Scope,
    body: bytes,
    params: dict[str, str],
    request: Request,
) -> Response:
    try:
        args = {**_query(scope), **_parsed(body)}
        return _encoded(handler(Call(services, principal, args, params, request)))
    except Exception as error:
        return failed(error)


def _encoded(result: Any) -> Response:
    return result if isinstance(result, Response) else _json(result, 200)


def _json(content: Any, status: int) -> Response:
    return Response(json.dumps(content, separators=(",", ":")), status, media_type="application/json")


def _parsed(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MlflowError("BAD_REQUEST", f"The body is not valid JSON: {error}.") from None
    if not isinstance(data, dict):
        raise invalid(f"The body must be a JSON object, not {type(data).__name__}.")
    return data


def _query(scope: Scope) -> dict[str, Any]:
    """Arguments of the address: a text, or a list where one is given again."""
    try:
        given = parse_qs(scope.get("query_string", b"").decode("ascii"), keep_blank_values=True, max_num_fields=10_000)
    except ValueError as error:
        raise MlflowError("BAD_REQUEST", f"The query of the address cannot be read: {error}.") from None
    return {key: values[0] if len(values) == 1 else values for key, values in given.items()}


def _unknown(scope: Scope, allowed: list[str]) -> MlflowError:
    path = scope["path"][:200]
    if allowed:
        return MlflowError(
            "BAD_REQUEST", f"{scope['method']} is not possible at {path}. Allowed: {', '.join(allowed)}."
        )
    return MlflowError(
        "ENDPOINT_NOT_FOUND",
        f"{path} is not answered by Rookery. The calls that are: COVERAGE.md, and docs/mlflow.md.",
    )
