"""The app: routes, errors and the front, put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import Depends, FastAPI

from rookery import __version__
from rookery.record import Record
from rookery.server.answers import JsonAnswer
from rookery.server.auth import AgentsGate, authorize, find_refusal
from rookery.server.errors import add_handlers
from rookery.server.late_routes import LateDoor, LateRoutes
from rookery.server.limits import Front
from rookery.server.mlflow import TrackingDoor
from rookery.server.reception import Reception
from rookery.server.routes import keeper, outside
from rookery.server.services import Services
from rookery.server.studio import StudioDoor
from rookery.spec.protocol import PREFIX

__all__ = ["create_app"]

# A module of `routes/`, and the first parts of its paths below /api/v1. They are tried in this order. A part that is missing here
# has all of them imported when it is first asked for; `tests/server/test_late_routes.py` finds it.
ROUTERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("workspace", ("workspace", "tokens")),
    ("experiments", ("experiments",)),
    ("runs", ("runs",)),
    ("files", ("runs",)),
    ("events", ("runs", "events")),
    ("content", ("content", "snapshots")),
    ("compute", ("compute",)),
    ("models", ("models",)),
    ("datastores", ("datastores",)),
    ("datasets", ("datasets",)),
    ("data", ("data", "runs", "agent")),
    ("keyvault", ("keyvault",)),
    ("past", ("past",)),
    ("environments", ("environments", "wheels")),
    ("built_environments", ("built-environments",)),
    ("agent", ("agent",)),
    ("agent_files", ("agent",)),
    ("collect", ("gc",)),
    ("people", ("me", "users", "user-tokens")),
    ("session", ("session",)),
    ("audit", ("audit",)),
    ("webhooks", ("webhooks",)),
    ("home", ("home", "compute")),
    ("search", ("search", "compare")),
    ("actions", ("actions",)),
    ("run_views", ("runs",)),
    ("log_views", ("runs",)),
    ("outputs", ("runs", "models", "snapshots")),
    ("manifest_views", ("data",)),
    ("reproduce", ("runs",)),
    ("tune", ("runs",)),
    ("model_views", ("models", "model-names", "environments")),
    ("modules", ("modules",)),
    ("endpoints", ("endpoints", "model-profiles", "model-packages")),
    ("service", ("service",)),
    ("drafts", ("pipelines",)),
    ("pipelines", ("pipelines",)),
    ("published", ("pipelines",)),
)


def create_app(
    record: Record,
    controller: Any,
    identity: dict[str, Any],
    stop: Callable[[], None] = lambda: None,
    late: bool = False,
) -> FastAPI:
    """The API over a record and a controller; `stop` is what POST /keeper/stop calls, in the event loop.

    late: most routes are imported when they are first asked for.
    """
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
    app.include_router(outside.open_router)
    app.include_router(outside.router, dependencies=[Depends(authorize)])
    _include(app, keeper)
    routes = app.state.late_routes = LateRoutes(app, ROUTERS, _include)
    if not late:
        routes.load_all()
    app.router.default = StudioDoor(app.router.default, app.state.services)
    app.add_middleware(LateDoor, late=routes)
    app.add_middleware(TrackingDoor, services=app.state.services)  # MLflow's paths do not go through the router
    app.add_middleware(AgentsGate, services=app.state.services)  # inside of the front, which then has the last word
    app.add_middleware(
        Front, activity=app.state.services.activity, find_refusal=partial(find_refusal, app.state.services)
    )
    app.add_middleware(Reception, services=app.state.services)
    return app


def _include(app: FastAPI, module: Any) -> None:
    """Its routes for everybody, where it has such, and those that ask who it is."""
    if hasattr(module, "open_router"):
        app.include_router(module.open_router, prefix=PREFIX)
    app.include_router(module.router, prefix=PREFIX, dependencies=[Depends(authorize)])


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Made when it is first asked for: its types cost more than the rest of the app."""
    if app.openapi_schema is None:
        app.state.late_routes.load_all()
        from rookery.server.openapi import build_openapi

        app.openapi_schema = build_openapi(app)
    return app.openapi_schema
