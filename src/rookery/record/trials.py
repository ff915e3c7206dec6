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
from rookery.record.schema_pipeline import pipeline_steps
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

    def look(
        self,
        children: Iterable[str],
        metric: str,
        known: Mapping[str, int],
        steps: Optional[Mapping[str, Sequence[str]]] = None,
    ) -> dict[str, ChildSeen]:
        """child → its status, and its values of the metric where there are more than `known` says. Those that do not exist
        are left out.

        Args:
            steps: of children that are pipelines (`steps_of`). One that has not logged the metric itself has the values of the
                step that logged it first.
        """
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
            for child, runs_of_steps in (steps or {}).items():
                own = conn.execute(_TOTALS, {"ids": [child], "name": metric}).first()
                if child in found and own is None:
                    values_there = _first_values(conn, runs_of_steps, metric, known.get(child, 0))
                    found[child] = ChildSeen(found[child].status, values_there)
        return found

    def steps_of(self, pipelines: Iterable[str]) -> dict[str, list[str]]:
        """pipeline → the runs of its steps that have begun; of a reused step the run that did the work. Runs that are no pipelines
        are left out."""
        ids = list(pipelines)
        found: dict[str, list[str]] = {}
        with self._db.read() as conn:
            for i in range(0, len(ids), _BATCH):
                some = pipeline_steps.c.pipeline_id.in_(ids[i : i + _BATCH]) & pipeline_steps.c.run_id.is_not(None)
                for row in conn.execute(select(pipeline_steps).where(some)):
                    found.setdefault(row.pipeline_id, []).append(row.reused_from or row.run_id)
        return found

    def metric_kinds(self, run_ids: Iterable[str]) -> dict[str, str]:
        """name → kind of what runs have logged, for a tuning whose metric they have not."""
        query = select(metrics.c.name, metrics.c.kind).where(metrics.c.run_id.in_(list(run_ids))).order_by(metrics.c.id)
        with self._db.read() as conn:
            return {row.name: row.kind for row in conn.execute(query)}


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


def _first_values(conn: Any, run_ids: Sequence[str], metric: str, known: int) -> Optional[tuple[float, ...]]:
    """The values of that of these runs which logged the metric first, where they are more than are known."""
    first = min(conn.execute(_TOTALS, {"ids": list(run_ids), "name": metric}), key=lambda row: row.id, default=None)
    return _values(conn, first.id) if first is not None and first.total > known else None


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
