"""The workspace and the tokens for its runs."""

from __future__ import annotations

import os
import time

from fastapi import APIRouter

from rookery.record.clock import from_unix
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking
from rookery.server.schemas import TokenRequest, WorkspaceChange
from rookery.server.services import Served, Services
from rookery.settings import get_setting

__all__ = ["router"]

router = APIRouter(tags=["workspace"])

EXPECTED_H = 1.0  # how long the keeper waits for a client that was given an address


@router.get("/workspace")
def get_workspace(services: Served) -> JsonAnswer:
    """Identity, what people say about it, and how much room it takes."""
    return answer({**services.identity, **services.record.facts.get(), "disk_bytes": _disk_bytes(services)})


@router.patch("/workspace")
def change_workspace(change: WorkspaceChange, services: Served) -> JsonAnswer:
    services.record.facts.change(change.given())
    return get_workspace(services)


@router.post("/tokens")
def make_token(wanted: TokenRequest, services: Served) -> JsonAnswer:
    """A token with the rights of one run."""
    services.record.runs.check_exists(wanted.run_id)
    expires = services.record.tokens.expiry()
    return answer(
        {
            "token": services.record.tokens.make(wanted.run_id, "run", expires),
            "expires_utc": from_unix(int(expires)),
        }
    )


@router.post("/tokens/tracking")
def make_tracking_token(services: Served, asking: Asking) -> JsonAnswer:
    """A token for MLflow's calls only, and the TCP port they are answered at. A client is expected for a while. It ends with
    the token or session that asks for it, if not before."""
    hours = get_setting("tracking_token_hours", services.paths.root)
    expires = time.time() + hours * 3600
    services.tracking_until = max(services.tracking_until, time.time() + min(hours, EXPECTED_H) * 3600)
    return answer(
        {
            "token": services.record.tokens.make("", "track", expires, str(asking), asking.pass_id or ""),
            "expires_utc": from_unix(int(expires)),
            "port": services.endpoint.get("port"),
            "tls": bool(services.endpoint.get("tls")),
        }
    )


def _disk_bytes(services: Services) -> int:
    total = services.record.content.total_bytes() + services.record.logs.total_bytes()
    for path in (services.paths.database, services.paths.database + "-wal"):
        if os.path.exists(path):
            total += os.path.getsize(path)
    return total
