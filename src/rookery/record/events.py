"""Event rows: what live readers see, written in the transaction that makes it true, numbered for ever."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Text, bindparam, delete, func, insert, select, update

from rookery.record.database import Database, Tx
from rookery.record.prepared import Prepared
from rookery.record.schema import events, logs, metrics, runs
from rookery.spec.status import TERMINAL

__all__ = ["Events", "merge_log_rows", "merge_metric_rows", "write_event", "write_events"]

MERGED_BYTES = 256 * 1024
PAGE = 500

_FIELDS = ("run_id", "kind", "name", "start", "length", "data")
_INSERT = Prepared(
    insert(events).values({f: bindparam("new_" + f, type_=Text() if f == "data" else None) for f in _FIELDS}).inline(),
    ["new_" + f for f in _FIELDS],
)


class Events:
    """Reads event rows in order."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def after(
        self, seq: int, run_id: Optional[str] = None, limit: int = PAGE, kinds: Sequence[str] = ()
    ) -> tuple[list[dict[str, Any]], bool]:
        """(rows with a larger number, whether the run is over). Both are of the same moment, so `[]` and True
        means: that was all.
        """
        query = select(events).where(events.c.seq > seq).order_by(events.c.seq).limit(limit)
        if run_id is not None:
            query = query.where(events.c.run_id == run_id)
        if kinds:
            query = query.where(events.c.kind.in_(kinds))
        with self._db.read() as conn:
            rows = [dict(row._mapping) for row in conn.execute(query)]
            if run_id is None or rows:
                return rows, False
            status = conn.execute(select(runs.c.status).where(runs.c.id == run_id)).scalar()
        return rows, status in TERMINAL

    def last_seq(self) -> int:
        with self._db.read() as conn:
            return conn.execute(select(func.max(events.c.seq))).scalar() or 0


def write_event(tx: Tx, run_id: Optional[str], kind: str, data: Any, name: Optional[str] = None) -> None:
    """One row, and the bells that go with it."""
    write_events(tx, [_row(run_id, kind, data, name)])


def write_events(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Rows as `write_event` would make them."""
    if not rows:
        return
    _INSERT.run_many(tx.conn, [_stored(row) for row in rows])
    for row in rows:
        if row["run_id"] is not None:
            tx.ring("run/" + row["run_id"])
    tx.ring("events")


def log_rows(run_id: str, name: str, start: int, length: int) -> list[dict[str, Any]]:
    """Rows for the bytes [start, start + length): each is one event on the wire, so none is very large."""
    return [
        {
            "run_id": run_id,
            "kind": "log",
            "name": name,
            "start": at,
            "length": min(MERGED_BYTES, start + length - at),
            "data": None,
        }
        for at in range(start, start + length, MERGED_BYTES)
    ]


def metric_row(run_id: str, name: str, kind: str, start: int, count: int, last: Any) -> dict[str, Any]:
    data = {"run": run_id, "name": name, "kind": kind, "start": start, "count": count, "last": last}
    return {"run_id": run_id, "kind": "metric", "name": name, "start": start, "length": count, "data": data}


def _stored(row: dict[str, Any]) -> tuple[Any, ...]:
    data = None if row["data"] is None else json.dumps(row["data"], separators=(",", ":"))
    return row["run_id"], row["kind"], row["name"], row["start"], row["length"], data


def _row(run_id: Optional[str], kind: str, data: Any, name: Optional[str]) -> dict[str, Any]:
    return {"run_id": run_id, "kind": kind, "name": name, "start": None, "length": None, "data": data}


def merge_log_rows(tx: Tx, run_id: str, name: str) -> None:
    """Joins neighbouring rows of one log into rows of a quarter of a megabyte at most.

    The joined row takes the largest number of its parts: a reader that stands between two parts still gets the bytes it
    lacks (and some it has, which it drops by offset).
    """
    query = (
        select(events.c.seq, events.c.start, events.c.length)
        .where(
            events.c.run_id == run_id,
            events.c.kind == "log",
            events.c.name == name,
            events.c.length < MERGED_BYTES,
        )
        .order_by(events.c.seq)
    )
    gone: list[int] = []
    grown: list[dict[str, int]] = []
    held: Optional[list[int]] = None  # [seq, start, length] of the row that is growing
    parts = 0
    for seq, start, length in tx.conn.execute(query).all():
        if held is not None and held[1] + held[2] == start and held[2] + length <= MERGED_BYTES:
            gone.append(held[0])
            held = [seq, held[1], held[2] + length]
            parts += 1
            continue
        if held is not None and parts:
            grown.append({"row": held[0], "new_start": held[1], "new_length": held[2]})
        held, parts = [seq, start, length], 0
    if held is not None and parts:
        grown.append({"row": held[0], "new_start": held[1], "new_length": held[2]})
    if gone:
        tx.conn.execute(delete(events).where(events.c.seq == bindparam("row")), [{"row": seq} for seq in gone])
        tx.conn.execute(
            update(events)
            .where(events.c.seq == bindparam("row"))
            .values(start=bindparam("new_start"), length=bindparam("new_length")),
            grown,
        )
    tx.conn.execute(update(logs).where(logs.c.run_id == run_id, logs.c.name == name).values(loose=0))


def merge_metric_rows(tx: Tx, run_id: str) -> None:
    """Leaves one row per metric of a run that has ended, which tells of all its values."""
    last = (
        select(func.max(events.c.seq))
        .where(events.c.run_id == run_id, events.c.kind == "metric")
        .group_by(events.c.name)
    )
    keep = [seq for (seq,) in tx.conn.execute(last)]
    if not keep:
        return
    known = {row.name: row for row in tx.conn.execute(select(metrics).where(metrics.c.run_id == run_id))}
    names = tx.conn.execute(
        select(events.c.seq, events.c.name).where(events.c.run_id == run_id, events.c.kind == "metric")
    ).all()
    kept = set(keep)
    gone = [{"row": seq} for seq, _ in names if seq not in kept]
    if not gone:
        return
    tx.conn.execute(delete(events).where(events.c.seq == bindparam("row")), gone)
    tx.conn.execute(
        update(events)
        .where(events.c.seq == bindparam("row"))
        .values(start=0, length=bindparam("new_length"), data=bindparam("new_data")),
        [
            {
                "row": seq,
                "new_length": known[name].total,
                "new_data": metric_row(run_id, name, known[name].kind, 0, known[name].total, known[name].last)["data"],
            }
            for seq, name in names
            if seq in kept
        ],
    )
