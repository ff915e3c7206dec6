"""Rows of the table `runs` as the Run of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from rookery.errors import RunNotFoundError
from rookery.record.schema import experiments, run_properties, run_tags, runs
from rookery.record.schema_tracking import run_params

__all__ = ["labels_of", "load_run", "plain_runs", "run_columns", "run_row"]

_PLAIN = (
    "id", "number", "kind", "parent_id", "root_id", "display_name", "description", "status", "reason", "attempt", "compute",
    "target", "created_utc", "started_utc", "ended_utc", "submitted_by", "spec", "error", "warnings", "snapshot_id", "phases",
    "heard_utc",
)  # fmt: skip
_BATCH = 500


def run_columns() -> Select[Any]:
    """The select that `plain_runs` understands."""
    columns = [c for c in runs.c if c.name != "state"]
    return select(*columns, experiments.c.name.label("experiment")).join_from(runs, experiments)


def run_row(conn: Connection, run_id: str) -> Any:
    """The bare row, or RunNotFoundError."""
    row = conn.execute(select(runs).where(runs.c.id == run_id)).first()
    if row is None:
        raise RunNotFoundError(f"Run '{run_id}' does not exist in this workspace. List them with `rookery ps --all`.")
    return row


def load_run(conn: Connection, run_id: str) -> dict[str, Any]:
    """One Run, with its attempts, or RunNotFoundError."""
    row = conn.execute(run_columns().add_columns(runs.c.state).where(runs.c.id == run_id)).first()
    if row is None:
        run_row(conn, run_id)
    assert row is not None
    return {**plain_runs(conn, [row])[0], "attempts": (row.state or {}).get("attempts", [])}


def plain_runs(conn: Connection, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Runs with their tags and properties, in the order of the rows."""
    ids = [row.id for row in rows]
    tags = _labels(conn, run_tags, ids)
    properties = _labels(conn, run_properties, ids)
    params = _labels(conn, run_params, ids)
    result = []
    for row in rows:
        run = {key: getattr(row, key) for key in _PLAIN}
        run["experiment"] = row.experiment
        run["tags"] = tags.get(row.id, {})
        run["properties"] = properties.get(row.id, {})
        run["params"] = params.get(row.id, {})
        result.append(run)
    return result


def labels_of(conn: Connection, table: Any, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """run → key → value, from one of the tables that hold such pairs."""
    return _labels(conn, table, ids)


def _labels(conn: Connection, table: Any, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for batch in _batches(ids):
        for run_id, key, value in conn.execute(_OF_RUNS[table.name], {"ids": list(batch)}):
            found.setdefault(run_id, {})[key] = value
    return found


# Made once: to build a statement takes longer than to run it.
_OF_RUNS = {
    table.name: select(table.c.run_id, table.c.key, table.c.value)
    .where(table.c.run_id.in_(bindparam("ids", expanding=True)))
    .order_by(table.c.run_id, table.c.key)
    for table in (run_tags, run_properties, run_params)
}


def _batches(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[i : i + _BATCH] for i in range(0, len(ids), _BATCH))
