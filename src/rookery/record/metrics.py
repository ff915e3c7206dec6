"""Metrics as they are read: blocks (`metric_batch.py` writes them) become values, steps and times again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, bindparam, select

from rookery.record.database import Database
from rookery.record.metric_values import read_json, read_packed
from rookery.record.run_rows import run_row
from rookery.record.schema import metric_blocks, metrics

__all__ = ["Metrics", "latest_metrics"]

_NAMES = 500


class Metrics:
    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, run_id: str, name: Optional[str] = None) -> list[dict[str, Any]]:
        """Every Metric of the run (or the one of this name), in order of first appearance."""
        query = select(metrics).where(metrics.c.run_id == run_id).order_by(metrics.c.id)
        if name is not None:
            query = query.where(metrics.c.name == name)
        with self._db.read() as conn:
            run_row(conn, run_id)
            rows = conn.execute(query).all()
            blocks: dict[int, list[Any]] = {row.id: [] for row in rows}
            wanted = select(metric_blocks).order_by(metric_blocks.c.metric_id, metric_blocks.c.number)
            for i in range(0, len(rows), _NAMES):
                ids = [row.id for row in rows[i : i + _NAMES]]
                for block in conn.execute(wanted.where(metric_blocks.c.metric_id.in_(ids))):
                    blocks[block.metric_id].append(block)
        return [_plain(row, blocks[row.id]) for row in rows]

    def latest(self, run_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Of each run its numeric metrics: name, value (largest step, then time), step, time in unix seconds."""
        with self._db.read() as conn:
            return latest_metrics(conn, run_ids)


_LATEST = select(
    metrics.c.run_id, metrics.c.name, metrics.c.last_value, metrics.c.last_step, metrics.c.last_time
).where(metrics.c.run_id.in_(bindparam("ids", expanding=True)), metrics.c.last_step.is_not(None))


def latest_metrics(conn: Connection, run_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for i in range(0, len(run_ids), _NAMES):
        for run_id, name, value, step, time in conn.execute(_LATEST, {"ids": list(run_ids[i : i + _NAMES])}):
            shown = math.nan if value is None else value
            found.setdefault(run_id, []).append({"name": name, "value": shown, "step": step, "time": time})
    return found


def _plain(row: Any, blocks: Sequence[Any]) -> dict[str, Any]:
    if row.kind in ("scalar", "list"):
        return _plain_values(row, blocks)
    items = [item for block in blocks for item in read_json(block.values)]
    if row.kind in ("row", "table"):
        return {"name": row.name, "kind": row.kind, "rows": row.total, "columns": _columns(row.kind, items)}
    return {"name": row.name, "kind": row.kind, "items": items}


def _plain_values(row: Any, blocks: Sequence[Any]) -> dict[str, Any]:
    values: list[Any] = []
    steps: list[Any] = []
    times: list[float] = []
    for block in blocks:
        values.extend(read_json(block.values) if block.dtype == "j" else read_packed(block.dtype, block.values))
        steps.extend([None] * block.total if block.steps is None else read_packed("q", block.steps))
        times.extend(read_packed("d", block.times))
    has_steps = any(block.steps is not None for block in blocks)
    return {
        "name": row.name,
        "kind": row.kind,
        "values": values,
        "steps": steps if has_steps else None,
        "times": times,
    }


def _columns(kind: str, items: list[dict[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    total = 0
    for item in items:
        given = {key: [value] for key, value in item.items()} if kind == "row" else item
        length = 1 if kind == "row" else max((len(v) for v in given.values()), default=0)
        for key, values in given.items():
            column = columns.setdefault(key, [])
            column.extend([None] * (total - len(column)))
            column.extend(values)
        total += length
    for column in columns.values():
        column.extend([None] * (total - len(column)))
    return columns
