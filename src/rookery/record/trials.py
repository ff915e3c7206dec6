"""Trials of tunings: the values that were chosen, what became of them, and a look at their children."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from sqlalchemy import bindparam, delete, insert, select, update

from rookery.record.database import Database
from rookery.record.events import write_event
from rookery.record.metric_values import read_json, read_packed
from rookery.record.params import add_params
from rookery.record.run_steps import set_status
from rookery.record.schema import metric_blocks, metrics, runs
from rookery.record.schema_tune import trials
from rookery.spec.status import RunStatus

__all__ = ["ChildSeen", "Trials"]

_BATCH = 500


class ChildSeen(NamedTuple):
    """A child as it is now; `values` of the metric are None where there are no more than were known."""

    status: str
    values: Optional[tuple[float, ...]]


class Trials:
    """Promises: what a driver has decided is stored in one transaction, with the events that tell of it."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def of(self, run_id: str) -> list[dict[str, Any]]:
        """The trials of a tuning, by number."""
        with self._db.read() as conn:
            query = select(trials).where(trials.c.run_id == run_id).order_by(trials.c.number)
            return [dict(row._mapping) for row in conn.execute(query)]

    def store(
        self,
        run_id: str,
        rows: Sequence[Mapping[str, Any]],
        *,
        state: Mapping[str, Any],
        status: Optional[RunStatus] = None,
        reason: str = "",
        error: Optional[dict[str, Any]] = None,
    ) -> None:
        """Trials that are new or have changed, the driver's own state, and where it ends or begins the tuning's status.

        Raises:
            ConflictError: the tuning is over already.
        """
        with self._db.write() as tx:
            if rows:
                numbers = [row["number"] for row in rows]
                for i in range(0, len(numbers), _BATCH):
                    here = (trials.c.run_id == run_id) & trials.c.number.in_(numbers[i : i + _BATCH])
                    tx.conn.execute(delete(trials).where(here))
                tx.conn.execute(insert(trials), [{"run_id": run_id, **row} for row in rows])
                changed = [{key: row[key] for key in ("number", "phase", "status", "best", "total")} for row in rows]
                write_event(tx, run_id, "trial", {"run": run_id, "trials": _strict(changed)})
            if status is None:
                tx.conn.execute(update(runs).where(runs.c.id == run_id).values(state=dict(state)))
            else:
                set_status(tx, run_id, status, reason, error=error, more={"state": dict(state)})

    def note_values(self, child_id: str, parameters: Mapping[str, Any]) -> None:
        """The values of a child as parameters of its run, for tables and comparisons. Again changes nothing."""
        with self._db.write() as tx:
            add_params(tx, child_id, {name.lstrip("-"): str(value) for name, value in parameters.items()})

    def look(self, children: Iterable[str], metric: str, known: Mapping[str, int]) -> dict[str, ChildSeen]:
        """child → its status, and its values of the metric where there are more than `known` says. Those that do not exist
        are left out."""
        ids = list(children)
        found: dict[str, ChildSeen] = {}
        with self._db.read() as conn:
            for i in range(0, len(ids), _BATCH):
                some = {"ids": ids[i : i + _BATCH]}
                statuses = {row.id: row.status for row in conn.execute(_STATUSES, some)}
                grown = [
                    row
                    for row in conn.execute(_TOTALS, {**some, "name": metric})
                    if row.total > known.get(row.run_id, 0)
                ]
                values = {row.run_id: _values(conn, row.id) for row in grown}
                found.update({each: ChildSeen(status, values.get(each)) for each, status in statuses.items()})
        return found

    def metric_names(self, run_id: str) -> list[str]:
        """What a run has logged, for a tuning whose metric it has not."""
        with self._db.read() as conn:
            return list(conn.scalars(select(metrics.c.name).where(metrics.c.run_id == run_id).order_by(metrics.c.id)))


_STATUSES = select(runs.c.id, runs.c.status).where(runs.c.id.in_(bindparam("ids", expanding=True)))
_TOTALS = select(metrics.c.id, metrics.c.run_id, metrics.c.total).where(
    metrics.c.run_id.in_(bindparam("ids", expanding=True)),
    metrics.c.name == bindparam("name"),
    metrics.c.kind.in_(["scalar", "list"]),
)
_BLOCKS = (
    select(metric_blocks.c.dtype, metric_blocks.c["values"])
    .where(metric_blocks.c.metric_id == bindparam("metric"))
    .order_by(metric_blocks.c.number)
)


def _values(conn: Any, metric_id: int) -> tuple[float, ...]:
    values: list[float] = []
    for dtype, packed in conn.execute(_BLOCKS, {"metric": metric_id}):
        values.extend(_number(v) for v in (read_json(packed) if dtype == "j" else read_packed(dtype, packed)))
    return tuple(values)


def _number(value: Any) -> float:
    """Texts and nulls count as an interval, not as a number."""
    return float(value) if isinstance(value, (int, float)) else math.nan


def _strict(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events are read by browsers, which know no infinities."""
    return [
        {key: None if isinstance(v, float) and not math.isfinite(v) else v for key, v in row.items()} for row in rows
    ]
