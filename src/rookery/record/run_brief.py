"""Runs in brief: what a list shows of each, and no more is read than that."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Optional

from sqlalchemy import Connection, Select, func, select

from rookery.record.external import is_stale
from rookery.record.schema import experiments, runs
from rookery.spec.status import RunStatus

__all__ = ["brief_columns", "brief_of", "brief_runs", "unix"]

_PLAIN = (
    "id", "number", "display_name", "kind", "status", "reason", "attempt", "compute", "created_utc", "started_utc",
    "ended_utc", "submitted_by", "parent_id",
)  # fmt: skip
_BATCH = 500
_CAUSE = ("kind", "summary", "rank", "node", "fault")


def brief_columns() -> tuple[Any, ...]:
    """What `brief_runs` needs of each row; the select joins `experiments`."""
    return (
        runs.c.seq, *(runs.c[name] for name in _PLAIN), runs.c.heard_utc, runs.c.spec, runs.c.error,
        experiments.c.name.label("experiment"),
    )  # fmt: skip


def brief_runs(conn: Connection, rows: Sequence[Any], stale_s: float = 900.0) -> list[dict[str, Any]]:
    """BriefRuns, in the order of the rows."""
    children = _num_children(conn, [row.id for row in rows])
    now = time.time()
    return [_brief(row, children.get(row.id, 0), now, stale_s) for row in rows]


def brief_of(conn: Connection, run_ids: Sequence[str], stale_s: float = 900.0) -> dict[str, dict[str, Any]]:
    """Of these runs, by id; one that does not exist is left out."""
    found: dict[str, dict[str, Any]] = {}
    for i in range(0, len(run_ids), _BATCH):
        query: Select[Any] = select(*brief_columns()).join_from(runs, experiments)
        rows = conn.execute(query.where(runs.c.id.in_(list(run_ids[i : i + _BATCH])))).all()
        found.update({run["id"]: run for run in brief_runs(conn, rows, stale_s)})
    return found


def unix(moment: Optional[str]) -> Optional[float]:
    """One of our times as unix seconds."""
    if not moment:
        return None
    return datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


def _brief(row: Any, num_children: int, now: float, stale_s: float) -> dict[str, Any]:
    brief = {name: getattr(row, name) for name in _PLAIN}
    spec = row.spec or {}
    brief["experiment"] = row.experiment
    brief["node_count"] = spec.get("node_count", 1)
    brief["processes_per_node"] = spec.get("processes_per_node", 1)
    brief["duration_s"] = _duration(row, now)
    brief["num_children"] = num_children
    brief["stale"] = is_stale({"kind": row.kind, "status": row.status, "heard_utc": row.heard_utc}, stale_s)
    brief["cause"] = None if not row.error else {name: row.error.get(name) for name in _CAUSE}
    return brief


def _duration(row: Any, now: float) -> Optional[float]:
    start, end = unix(row.started_utc), unix(row.ended_utc)
    if start is None or (end is None and RunStatus(row.status).is_terminal):
        return None
    return round(max(0.0, (now if end is None else end) - start), 3)


def _num_children(conn: Connection, ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for i in range(0, len(ids), _BATCH):
        query = (
            select(runs.c.parent_id, func.count())
            .where(runs.c.parent_id.in_(list(ids[i : i + _BATCH])), runs.c.deleted_utc.is_(None))
            .group_by(runs.c.parent_id)
        )
        found.update({row[0]: row[1] for row in conn.execute(query)})
    return found
