"""What is going on, in one answer: what runs, waits and why, failed and why, what compute does, how full the disk is."""

from __future__ import annotations

import os
import shutil
import time
from typing import Any

from fastapi import APIRouter

from rookery.errors import UserError
from rookery.record.run_table import Columns, RunQuery
from rookery.record.search import Order
from rookery.server.answers import JsonAnswer
from rookery.server.services import Served, Services
from rookery.server.strict_json import strict_answer
from rookery.spec.run import RunKind
from rookery.spec.status import RunStatus

__all__ = ["RUNNING", "WAITING", "router"]

router = APIRouter(tags=["home"])

RUNNING = tuple(
    s.value
    for s in (RunStatus.RUNNING, RunStatus.FINALIZING, RunStatus.CANCEL_REQUESTED, RunStatus.NOT_RESPONDING)
)  # fmt: skip
WAITING = tuple(
    s.value
    for s in (
        RunStatus.NOT_STARTED, RunStatus.STARTING, RunStatus.PREPARING, RunStatus.QUEUED, RunStatus.PROVISIONING,
    )
)  # fmt: skip
# Branches of another run's process are that run's own business: only what has a process of its own is shown.
OWN_PROCESS = (RunKind.SCRIPT, RunKind.INTERACTIVE, RunKind.EXTERNAL)
SHOWN = (*OWN_PROCESS, *RunKind.DRIVEN)  # and what makes such runs
NOTHING = Columns((), (), ())
MAX_QUEUE = 500
LOOKED_AT = 200
_OLDEST_FIRST = (Order("attribute", "created"),)


@router.get("/home")
def get_home(services: Served, limit: int = 10) -> JsonAnswer:
    if not 1 <= limit <= 50:
        raise UserError(f"limit={limit} must be between 1 and 50.")
    running, more_running = services.record.table.page(_asked(RUNNING), NOTHING, limit)
    waiting, more_waiting = services.record.table.page(_asked(WAITING, sort=_OLDEST_FIRST), NOTHING, limit)
    return strict_answer(
        {
            "time": time.time(),
            "counts": services.record.numbers.runs_by_status(),
            "running": _plain(running),
            "waiting": _plain(waiting),
            "failed": _latest(services, (RunStatus.FAILED.value,), limit),
            "ended": _latest(
                services, tuple(s.value for s in RunStatus if s.is_terminal), limit, include_children=False
            ),
            "more": {"running": more_running is not None, "waiting": more_waiting is not None},
            "compute": [_compute(one) for one in services.controller.computes()],
            "disk": _disk(services),
        }
    )


@router.get("/compute/{name}/queue")
def get_queue(name: str, services: Served) -> JsonAnswer:
    """What a target does, and who waits for it and why, the next one first."""
    services.controller.compute(name)
    running, more = services.record.table.page(_asked(RUNNING, name), NOTHING, MAX_QUEUE)
    waiting, more_waiting = services.record.table.page(_asked(WAITING, name, _OLDEST_FIRST), NOTHING, MAX_QUEUE)
    placed = [{**run, "place": number} for number, run in enumerate(_plain(waiting), 1)]
    return strict_answer({"running": _plain(running), "waiting": placed, "more": bool(more or more_waiting)})


def _asked(statuses: tuple[str, ...], compute: str = "", sort: tuple[Order, ...] = ()) -> RunQuery:
    return RunQuery(
        statuses=statuses,
        kinds=OWN_PROCESS if compute else SHOWN,
        include_children=True,
        archived="all",
        computes=(compute,) if compute else (),
        sort=sort,
    )


def _latest(
    services: Services, statuses: tuple[str, ...], limit: int, include_children: bool = True
) -> list[dict[str, Any]]:
    """The last to end among the newest: when a run ended is in no index, when it was made is. A child whose parent is there too is
    left out: the parent's cause is its own."""
    page, _ = services.record.table.page(
        RunQuery(statuses=statuses, kinds=SHOWN, include_children=include_children), NOTHING, LOOKED_AT
    )
    ids = {run["id"] for run in page}
    own = [run for run in page if run["parent_id"] not in ids]
    return _plain(sorted(own, key=lambda run: run["ended_utc"] or "", reverse=True)[:limit])


def _plain(page: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in run.items() if key not in ("metrics", "params", "tags")} for run in page]


def _compute(one: dict[str, Any]) -> dict[str, Any]:
    states = one["node_states"]
    return {
        **{
            key: one[key]
            for key in (
                "name", "kind", "problem", "allocation_state", "current_nodes", "max_nodes", "queued_runs", "running_runs",
            )
        },
        "busy_nodes": sum(states.get(state, 0) for state in ("running", "preparing", "leaving")),
        "idle_nodes": states.get("idle", 0),
    }  # fmt: skip


def _disk(services: Services) -> dict[str, Any]:
    stored = services.record.numbers.stored_bytes()
    database = services.paths.database
    files = [path for path in (database, database + "-wal") if os.path.exists(path)]
    room = shutil.disk_usage(services.paths.root)
    return {
        **stored,
        "database_bytes": sum(os.path.getsize(path) for path in files),
        "free_bytes": room.free,
        "total_bytes": room.total,
    }
