"""The keeper itself: who it is, how it is, and stopping it."""

from __future__ import annotations

import os
import socket
import time

from fastapi import APIRouter

from rookery import __version__
from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served
from rookery.spec.protocol import PROTOCOL

__all__ = ["open_router", "router"]

open_router = APIRouter(tags=["keeper"])  # no token needed
router = APIRouter(tags=["keeper"])


@open_router.get("/hello")
async def hello(services: Served) -> JsonAnswer:
    """Says that this is a keeper, of which workspace and version."""
    return answer(
        {
            "service": "rookery",
            "version": __version__,
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "hostname": socket.gethostname(),
            "time": time.time(),
            "workspace": {"id": services.identity["id"], "name": services.identity["name"]},
        }
    )


@router.get("/keeper")
def status(services: Served) -> JsonAnswer:
    """How the keeper is."""
    counts = services.controller.counts()
    return answer(
        {
            "pid": os.getpid(),
            "uptime_s": time.monotonic() - services.started,
            "memory_bytes": _memory_bytes(),
            "live_runs": counts["live_runs"],
            "queued_runs": counts["queued_runs"],
            "running_runs": counts["running_runs"],
            "open_streams": services.activity.open_streams,
            "idle_s": time.monotonic() - services.activity.last_request,
            "socket": services.endpoint.get("socket"),
            "port": services.endpoint.get("port"),
            "url": services.own_url(),
            "agents": {"urls": services.agents.urls},
            "version": __version__,
        }
    )


@router.post("/keeper/stop", status_code=202)
async def stop(services: Served) -> JsonAnswer:
    """Leaves at once; running agents carry on."""
    services.stop()
    return answer({}, 202)


def _memory_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
