"""Who may what at MLflow's paths. The rule of a path stands beside it in `routes.py`."""

from __future__ import annotations

from typing import Optional

from fastapi import Request

from rookery.server.auth import AUDITED, PRINCIPAL, Principal, authenticate, check_parent
from rookery.server.errors import ForbiddenError
from rookery.server.mlflow.errors import MlflowError
from rookery.server.mlflow.routes import Route
from rookery.server.services import Services

__all__ = ["admit", "check_run"]


def admit(services: Services, request: Request, route: Route) -> Principal:
    """The principal, when they may use this path at all. MlflowError or AuthenticationError otherwise."""
    if route.right == "open":
        return Principal("nobody")
    if route.right == "test":
        if not services.testing:
            raise MlflowError("ENDPOINT_NOT_FOUND", "There is nothing here: this server does not run with --testing.")
        return Principal("nobody")
    principal = authenticate(services, request)
    request.scope[PRINCIPAL] = principal
    if route.right == "write":  # tracking itself comes too often for the audit log
        request.scope[AUDITED] = f"{route.method} {route.path}"
    if principal.may("contributor") or route.right == "read":
        return principal
    if principal.kind == "track" and principal.role is None:
        return principal  # the owner asked for it
    if principal.role is not None:
        raise ForbiddenError(
            f"User '{principal}' is a {principal.role}; {request.method} {request.url.path[:200]} needs the role contributor."
        )
    if route.right == "run" and principal.run_id is not None:
        return principal
    raise ForbiddenError(f"The token of {principal} does not allow {request.method} {request.url.path[:200]}.")


def check_run(services: Services, principal: Principal, run_id: Optional[str]) -> None:
    """A run's token writes only to that run and its children; others were admitted for all."""
    if principal.run_id is not None:
        check_parent(services, principal, run_id)
