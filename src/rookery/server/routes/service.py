"""Scoring at the keeper's own address: relayed to the endpoint's front, for browsers and for those who have one open port only."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from rookery.errors import AuthenticationError, EndpointError, NotFoundError
from rookery.server.auth import authorize
from rookery.server.relaying import relay
from rookery.server.services import Services

__all__ = ["open_router", "router"]

router = APIRouter(tags=["endpoints"])
open_router = APIRouter(tags=["endpoints"])  # a key of the endpoint opens it too, so the handler asks who it is


@open_router.get("/service/{name}")
async def get_service_health(name: str, request: Request) -> Response:
    return await _relayed(name, "/", request)


@open_router.get("/service/{name}/swagger.json")
async def get_service_swagger(name: str, request: Request) -> Response:
    return await _relayed(name, "/swagger.json", request)


@open_router.get("/service/{name}/score")
async def score_query(name: str, request: Request) -> Response:
    return await _relayed(name, "/score", request)


@open_router.post("/service/{name}/score")
async def score(name: str, request: Request) -> Response:
    return await _relayed(name, "/score", request)


@open_router.options("/service/{name}/score")
async def score_options(name: str, request: Request) -> Response:
    return await _relayed(name, "/score", request)


async def _relayed(name: str, path: str, request: Request) -> Response:
    services: Services = request.app.state.services
    refusal = None
    try:
        await authorize(request)
    except AuthenticationError as error:
        if not request.headers.get("authorization"):
            raise
        refusal = error
    try:
        row = await run_in_threadpool(services.record.endpoints.get, name)
    except NotFoundError:
        raise refusal or EndpointError(f"There is no endpoint '{name:.80}'.") from None
    if refusal is not None and not (row["settings"]["auth_enabled"] or row["settings"]["token_auth_enabled"]):
        raise refusal  # its own door stands open; this one is the workspace's
    where, key = await run_in_threadpool(services.serving.manager().relay, name)
    return await relay(request, where, path, key if refusal is None else None)
