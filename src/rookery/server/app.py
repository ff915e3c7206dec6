"""The app: routes, errors and the front, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Depends, FastAPI

from rookery import __version__
from rookery.record import Record
from rookery.server.answers import JsonAnswer
from rookery.server.auth import AgentsGate, authorize
from rookery.server.errors import add_handlers
from rookery.server.limits import Front
from rookery.server.mlflow import TrackingDoor
from rookery.server.reception import Reception
from rookery.server.routes import (
    agent,
    agent_files,
    audit,
    built_environments,
    collect,
    compute,
    content,
    environments,
    events,
    experiments,
    files,
    keeper,
    models,
    outside,
    past,
    people,
    runs,
    session,
    webhooks,
    workspace,
)
from rookery.server.services import Services
from rookery.spec.protocol import PREFIX

__all__ = ["create_app"]

ROUTERS = (
    keeper,
    workspace,
    experiments,
    runs,
    files,
    events,
    content,
    compute,
    models,
    past,
    environments,
    built_environments,
    agent,
    agent_files,
    collect,
    people,
    audit,
    webhooks,
)


def create_app(
    record: Record, controller: Any, identity: dict[str, Any], stop: Callable[[], None] = lambda: None
) -> FastAPI:
    """The API over a record and a controller; `stop` is what POST /keeper/stop calls, in the event loop."""
    app = FastAPI(
        title="Rookery",
        version=__version__,
        openapi_url=PREFIX + "/openapi.json",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=JsonAnswer,
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
        },  # newer FastAPI: nothing leaves the machine
    )
    app.state.services = Services(record, controller, record.paths, identity, stop)
    add_handlers(app)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    for module in (keeper, session):
        app.include_router(module.open_router, prefix=PREFIX)
    app.include_router(outside.open_router)
    app.include_router(outside.router, dependencies=[Depends(authorize)])
    for module in ROUTERS:
        app.include_router(module.router, prefix=PREFIX, dependencies=[Depends(authorize)])
    app.add_middleware(
        TrackingDoor, services=app.state.services
    )  # innermost: MLflow's paths do not go through the router
    app.add_middleware(AgentsGate, services=app.state.services)  # inside of the front, which then has the last word
    app.add_middleware(Front, activity=app.state.services.activity)
    app.add_middleware(Reception, services=app.state.services)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Made when it is first asked for: its types cost more than the rest of the app."""
    if app.openapi_schema is None:
        from rookery.server.openapi import build_openapi

        app.openapi_schema = build_openapi(app)
    return app.openapi_schema
