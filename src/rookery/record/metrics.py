"""Metrics, stored in blocks: the last block of a metric is extended until it is full, then a new one begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, bindparam, insert, select, update

from rookery.record.database import Database, Tx
from rookery.record.events import metric_row, write_events
from rookery.record.metric_values import Chunk, latest_in, read_json, read_packed
from rookery.record.run_rows import run_row
from rookery.record.schema import metric_blocks, metrics

__all__ = ["ITEM_KINDS", "MetricBatch", "Metrics", "latest_metrics"]

# A block is rewritten when it is extended; at a thousand values that costs no more than the pages of a new row would.
TAIL_VALUES = 1024
TAIL_BYTES = 64 * 1024
ITEM_KINDS = ("image", "confusion_matrix", "accuracy_table", "residuals", "predictions")
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


def latest_metrics(conn: Connection, run_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    columns = (metrics.c.run_id, metrics.c.name, metrics.c.last_value, metrics.c.last_step, metrics.c.last_time)
    found: dict[str, list[dict[str, Any]]] = {}
    for i in range(0, len(run_ids), _NAMES):
        query = select(*columns).where(metrics.c.run_id.in_(run_ids[i : i + _NAMES]), metrics.c.last_step.is_not(None))
        for run_id, name, value, step, time in conn.execute(query):
            shown = math.nan if value is None else value
            found.setdefault(run_id, []).append({"name": name, "value": shown, "step": step, "time": time})
    return found


class MetricBatch:
    """Everything that one request adds, gathered first and written with few statements.

    `refused` collects what was not taken because the name has another kind; the caller makes warnings of it.
    """

    taken = 0  # values of all batches of this process, for whoever watches it

    def __init__(self) -> None:
        self._chunks: dict[str, dict[str, list[tuple[str, Chunk]]]] = {}
        self.refused: list[tuple[str, str]] = []

    def add(self, run_id: str, name: str, kind: str, chunk: Chunk) -> None:
        self._chunks.setdefault(run_id, {}).setdefault(name, []).append((kind, chunk))

    def write(self, tx: Tx) -> None:
        for run_id, named in self._chunks.items():
            self._write_run(tx, run_id, named)
        self._chunks.clear()

    def _write_run(self, tx: Tx, run_id: str, named: dict[str, list[tuple[str, Chunk]]]) -> None:
        rows = _metric_rows(tx, run_id, named)
        tails = _tail_blocks(tx, rows, named)
        events, changes = [], []
        new_blocks: list[dict[str, Any]] = []
        grown: dict[int, dict[str, Any]] = {}
        for name, chunks in named.items():
            row = rows[name]
            start = row["total"]
            for kind, chunk in chunks:
                merged = _merged_kind(row["kind"], kind)
                if merged is None:
                    self.refused.append((run_id, _refusal(name, row["kind"], kind)))
                    continue
                row["kind"] = merged
                _append(row, chunk, tails, new_blocks, grown)
            if row["total"] == start:
                continue
            MetricBatch.taken += row["total"] - start
            events.append(metric_row(run_id, name, row["kind"], start, row["total"] - start, row["last"]))
            changes.append({("row" if key == "id" else "new_" + key): value for key, value in row.items()})
        if grown:
            tx.conn.execute(
                _GROW_BLOCK,
                [{"row": b["metric_id"], "block": b["number"], **_new(b)} for b in grown.values()],
            )
        if new_blocks:
            tx.conn.execute(insert(metric_blocks), new_blocks)
        if changes:
            tx.conn.execute(_CHANGE_METRIC, changes)
        write_events(tx, run_id, events)


_METRIC_FIELDS = (
    "total", "kind", "tail", "tail_count", "tail_dtype", "tail_steps", "last", "last_value", "last_step", "last_time",
)  # fmt: skip
_CHANGE_METRIC = (
    update(metrics).where(metrics.c.id == bindparam("row")).values({f: bindparam("new_" + f) for f in _METRIC_FIELDS})
)
_GROW_BLOCK = (
    update(metric_blocks)
    .where(metric_blocks.c.metric_id == bindparam("row"), metric_blocks.c.number == bindparam("block"))
    .values({f: bindparam("new_" + f) for f in ("total", "values", "steps", "times")})
)


def _new(block: dict[str, Any]) -> dict[str, Any]:
    return {"new_" + field: block[field] for field in ("total", "values", "steps", "times")}


def _metric_rows(tx: Tx, run_id: str, named: dict[str, list[tuple[str, Chunk]]]) -> dict[str, dict[str, Any]]:
    """The rows of these metrics, as dicts that are changed and written back; those that were absent are inserted."""
    rows = _select_rows(tx, run_id, list(named))
    absent = [name for name in named if name not in rows]
    if absent:
        tx.conn.execute(
            insert(metrics),
            [
                {"run_id": run_id, "name": name, "kind": named[name][0][0], "total": 0, "tail": -1, "tail_count": 0,
                 "tail_dtype": "", "tail_steps": 0, "last": None, "last_value": None, "last_step": None, "last_time": None}
                for name in absent
            ],
        )  # fmt: skip
        rows.update(_select_rows(tx, run_id, absent))
    return rows


def _select_rows(tx: Tx, run_id: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    columns = [metrics.c.name, metrics.c.id, *(metrics.c[f] for f in _METRIC_FIELDS)]
    rows: dict[str, dict[str, Any]] = {}
    for i in range(0, len(names), _NAMES):
        query = select(*columns).where(metrics.c.run_id == run_id, metrics.c.name.in_(names[i : i + _NAMES]))
        for row in tx.conn.execute(query).mappings():
            values = dict(row)
            rows[values.pop("name")] = values
    return rows


def _tail_blocks(
    tx: Tx, rows: dict[str, dict[str, Any]], named: dict[str, list[tuple[str, Chunk]]]
) -> dict[int, dict[str, Any]]:
    """The blocks that will be extended, by metric; those that the first chunk cannot join are not even read."""
    wanted = {
        row["id"]: row["tail"] for name, row in rows.items() if row["tail"] >= 0 and _joins(row, named[name][0][1])
    }
    found: dict[int, dict[str, Any]] = {}
    ids = list(wanted)
    for i in range(0, len(ids), _NAMES):
        batch = ids[i : i + _NAMES]
        query = select(metric_blocks).join(
            metrics, (metrics.c.id == metric_blocks.c.metric_id) & (metrics.c.tail == metric_blocks.c.number)
        )
        for block in tx.conn.execute(query.where(metrics.c.id.in_(batch))).mappings():
            found[block["metric_id"]] = dict(block)
    return found


def _joins(row: dict[str, Any], chunk: Chunk) -> bool:
    return (
        row["tail_dtype"] == chunk.dtype
        and bool(row["tail_steps"]) == (chunk.steps is not None)
        and row["tail_count"] + chunk.count <= TAIL_VALUES
    )


def _append(
    row: dict[str, Any],
    chunk: Chunk,
    tails: dict[int, dict[str, Any]],
    new_blocks: list[dict[str, Any]],
    grown: dict[int, dict[str, Any]],
) -> None:
    """Extends the metric's last block or begins a new one. `tails` has the last blocks as they are now,
    stored or not.
    """
    tail = tails.get(row["id"])
    if tail is not None and _joins(row, chunk) and len(tail["values"]) + len(chunk.values) <= TAIL_BYTES:
        tail["values"] += chunk.values
        tail["times"] += chunk.times
        if chunk.steps is not None:
            tail["steps"] += chunk.steps
        tail["total"] += chunk.count
        row["tail_count"] = tail["total"]
        if all(tail is not block for block in new_blocks[-1:]):
            grown[row["id"]] = tail
    else:
        row.update(
            tail=row["tail"] + 1,
            tail_count=chunk.count,
            tail_dtype=chunk.dtype,
            tail_steps=int(chunk.steps is not None),
        )
        block = {
            "metric_id": row["id"], "number": row["tail"], "total": chunk.count, "dtype": chunk.dtype,
            "values": chunk.values, "steps": chunk.steps, "times": chunk.times,
        }  # fmt: skip
        new_blocks.append(block)
        tails[row["id"]] = block
    _note_latest(row, chunk)
    row["total"] += chunk.count
    row["last"] = chunk.last


def _note_latest(row: dict[str, Any], chunk: Chunk) -> None:
    """Keeps the value with the largest step, then the largest time: what a search compares."""
    found = latest_in(chunk, row["total"])
    if found is None:
        return
    value, step, time = found
    old = (row["last_step"], row["last_time"])
    if old[0] is None or (step, time) > old or ((step, time) == old and _at_least(value, row["last_value"])):
        row.update(last_value=None if value != value else value, last_step=step, last_time=time)


def _at_least(value: float, old: Optional[float]) -> bool:
    return old is None or value >= old


def _merged_kind(have: str, given: str) -> Optional[str]:
    if have == given:
        return have
    return "list" if {have, given} == {"scalar", "list"} else None


def _refusal(name: str, have: str, given: str) -> str:
    return f"Metric '{name:.80}' is of kind {have}; a {given} under the same name was not stored. Use another name."


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
