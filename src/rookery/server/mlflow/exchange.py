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
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope

from rookery.record.external import Said
from rookery.server.mlflow.access import admit
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.errors import MlflowError, invalid, translated
from rookery.server.mlflow.routes import Route
from rookery.server.services import Services

__all__ = ["answer_request"]

# What the client says it can read; bodies of files are never parsed.
_RAW = ("artifacts:upload", "traces:take_spans")
# These only look at what came, and have it stored by the intake. They need no thread of their own, as long as it is not much.
_QUICK = ("logging:log_metric", "logging:log_batch", "logging:log_parameter", "logging:set_tag")
_QUICK_BYTES = 256 * 1024


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
        body = b"" if scope["method"] in ("GET", "HEAD") else await _body(receive)
        if route.handler in _QUICK and len(body) <= _QUICK_BYTES:
            args = {**_query(scope), **_parsed(body)}
            call = Call(services, principal, args, params, request)
            # Whether another run is one of its own family is known to the database only.
            if principal.run_id is None or principal.run_id == (args.get("run_id") or args.get("run_uuid")):
                result = handler(call)
            else:
                result = await run_in_threadpool(handler, call)
        else:
            result = await run_in_threadpool(_handle, handler, services, principal, scope, body, params, request)
        if isinstance(result, Said):
            problem = await services.replies.store(result)
            if problem is not None:
                raise problem
            return _DONE
        return _encoded(result)
    except (HTTPException, ClientDisconnect):
        raise  # the front's: too large a body, or nobody there any more
    except Exception as error:
        return failed(error)


async def _body(receive: Receive) -> bytes:
    """All of it; the front limits it."""
    pieces = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def failed(error: BaseException) -> Response:
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
) -> Any:
    """In a thread: the handler, and its answer as bytes, because a long one takes long to write."""
    try:
        args = {**_query(scope), **_parsed(body)}
        result = handler(Call(services, principal, args, params, request))
        return result if isinstance(result, Said) else _encoded(result)
    except Exception as error:
        return failed(error)


def _encoded(result: Any) -> Response:
    return result if isinstance(result, Response) else _json(result, 200)


def _json(content: Any, status: int) -> Response:
    return Response(json.dumps(content, separators=(",", ":")), status, media_type="application/json")


_DONE = _json({}, 200)


def _parsed(body: bytes) -> dict[str, Any]:
    if not body or body.isspace():
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
