"""Runs by what is true of them: conditions on attributes, metrics, parameters, tags and datasets, as SQL.

The same statement works on SQLite and PostgreSQL. A search reads only the columns that its caller shows, so a page costs what it
shows, not what the runs hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
)

from rookery.record.database import Database
from rookery.record.metrics import latest_metrics
from rookery.record.run_rows import labels_of
from rookery.record.schema import experiments, metrics, run_tags, runs
from rookery.record.schema_tracking import HEAD, run_inputs, run_params
from rookery.record.search_plan import first_of_few, rows_of, without_index
from rookery.record.sql_like import like_exactly

__all__ = ["Condition", "Order", "Search", "clause_of", "compare_numbers", "compare_texts"]

MAX_OFFSET = 2**62
_NUMBERS = {
    "=": lambda c, v: c == v,
    "!=": lambda c, v: c != v,
    "<": lambda c, v: c < v,
    "<=": lambda c, v: c <= v,
    ">": lambda c, v: c > v,
    ">=": lambda c, v: c >= v,
}


@dataclass(frozen=True)
class Condition:
    """One comparison. kind: attribute, metric, param, tag, dataset; op: = != < <= > >= LIKE ILIKE IN, NOT IN, IS NULL, IS NOT NULL."""

    kind: str
    key: str
    op: str
    value: Any = None


@dataclass(frozen=True)
class Order:
    kind: str
    key: str
    ascending: bool = True


class Search:
    def __init__(self, db: Database) -> None:
        self._db = db

    def runs(
        self,
        experiment_ids: Sequence[str],
        conditions: Sequence[Condition] = (),
        order: Sequence[Order] = (),
        limit: int = 1000,
        offset: int = 0,
        deleted: Optional[bool] = False,
    ) -> tuple[list[dict[str, Any]], bool]:
        """(found, whether there are more). Each has its columns, and `tags`, `params`, `metrics` (the latest values).

        deleted: only such, only others (False), or both (None). A run of an archived experiment counts as deleted.
        """
        if not experiment_ids:
            return [], False
        with self._db.read() as conn:
            parts = self._parts(conn, experiment_ids, conditions, order, deleted)
            rows = rows_of(conn, parts, limit + 1, offset)
            return self._filled(conn, [dict(row._mapping) for row in rows[:limit]]), len(rows) > limit

    def _parts(
        self,
        conn: Connection,
        experiment_ids: Sequence[str],
        conditions: Sequence[Condition],
        order: Sequence[Order],
        deleted: Optional[bool],
    ) -> list[Select[Any]]:
        """The statements whose rows, one after the other, are the answer.

        SQLite knows nothing of how many rows a condition leaves, so it is told where to begin: at a condition that few runs
        fulfil; else at the values of the metric that the runs are ordered by, which are looked at in that order until the page is
        full; else at the newest runs. PostgreSQL keeps statistics, and finds the way by itself.
        """
        few = first_of_few(conn, [(c, _candidates(c)) for c in conditions]) if self._db.is_sqlite else None
        leads = self._db.is_sqlite and few is None and bool(order) and order[0].kind == "metric"
        query = select(*_SHOWN).join_from(runs, experiments)
        gone = or_(runs.c.deleted_utc.is_not(None), experiments.c.archived_utc.is_not(None))
        if deleted is not None:
            query = query.where(gone if deleted else not_(gone))
        for condition in conditions:
            rows = _candidates(condition) if condition is few else None
            query = query.where(_clause(condition) if rows is None else runs.c.id.in_(rows))
        here = _in(runs.c.experiment_id, experiment_ids)
        apart = _in(without_index(runs.c.experiment_id), experiment_ids)
        latest = (runs.c.began_ms.desc(), runs.c.seq.desc())
        if leads:
            first, *others = order
            parts = _by_metric(query, first)
            return [
                _in_order(part.where(here if i == 2 else apart), others).order_by(*latest)
                for i, part in enumerate(parts)
            ]
        return [_in_order(query.where(here if few is None else apart), order).order_by(*latest)]

    def one(self, run_id: str) -> Optional[dict[str, Any]]:
        """One run as `runs` returns them, or None."""
        with self._db.read() as conn:
            row = conn.execute(_ONE, {"wanted": run_id}).first()
            return None if row is None else self._filled(conn, [dict(row._mapping)])[0]

    def _filled(self, conn: Any, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        ids = [run["id"] for run in found]
        tags, params = labels_of(conn, run_tags, ids), labels_of(conn, run_params, ids)
        latest = latest_metrics(conn, ids)
        inputs: dict[str, list[dict[str, Any]]] = {}
        for i in range(0, len(ids), 500):
            for row in conn.execute(_INPUTS, {"ids": ids[i : i + 500]}).mappings():
                inputs.setdefault(row["run_id"], []).append(dict(row))
        for run in found:
            run["tags"], run["params"] = tags.get(run["id"], {}), params.get(run["id"], {})
            run["metrics"], run["inputs"] = latest.get(run["id"], []), inputs.get(run["id"], [])
        return found


_SHOWN = (
    runs.c.id, runs.c.experiment_id, runs.c.kind, runs.c.parent_id, runs.c.display_name, runs.c.description, runs.c.status,
    runs.c.submitted_by, runs.c.created_utc, runs.c.started_utc, runs.c.ended_utc, runs.c.began_ms, runs.c.deleted_utc,
    experiments.c.archived_utc, experiments.c.name.label("experiment"),
)  # fmt: skip
_ONE = select(*_SHOWN).join_from(runs, experiments).where(runs.c.id == bindparam("wanted"))
_INPUTS = select(run_inputs).where(run_inputs.c.run_id.in_(bindparam("ids", expanding=True))).order_by(run_inputs.c.id)


def clause_of(condition: Condition) -> ColumnElement[bool]:
    """What must hold of the table `runs`."""
    return _clause(condition)


def compare_numbers(column: Any, op: str, value: Any) -> ColumnElement[bool]:
    return _NUMBERS[op](column, value)


def compare_texts(column: Any, op: str, value: Any) -> ColumnElement[bool]:
    return _text(column, op, value)


def _in(column: Any, values: Sequence[Any]) -> ColumnElement[bool]:
    return column == values[0] if len(values) == 1 else column.in_(list(values))


def _clause(condition: Condition) -> ColumnElement[bool]:
    if condition.kind == "attribute":
        return _attribute(condition)
    rows = _candidates(condition)
    if rows is None:  # IS NULL, IS NOT NULL
        table = _LABELS[condition.kind]
        has = exists(select(literal(1)).where(table.c.run_id == runs.c.id, table.c.key == condition.key))
        return not_(has) if condition.op == "IS NULL" else has
    return exists(rows.where(rows.selected_columns[0] == runs.c.id))


def _candidates(condition: Condition) -> Optional[Select[Any]]:
    """The ids of the runs for which it holds, deleted ones and those of other experiments too; None where that says nothing."""
    if condition.kind == "metric":
        return select(metrics.c.run_id).where(
            metrics.c.name == condition.key,
            metrics.c.last_step.is_not(None),
            _NUMBERS[condition.op](metrics.c.last_value, condition.value),
        )
    if condition.kind == "dataset":
        column = {"name": run_inputs.c.name, "digest": run_inputs.c.digest, "context": run_inputs.c.context}[
            condition.key
        ]
        return select(run_inputs.c.run_id).where(
            run_inputs.c.kind == "dataset", _text(column, condition.op, condition.value)
        )
    if condition.kind not in _LABELS or condition.op in ("IS NULL", "IS NOT NULL"):
        return None
    table = _LABELS[condition.kind]
    query = select(table.c.run_id).where(
        table.c.key == condition.key, _text(table.c.value, condition.op, condition.value)
    )
    if condition.op == "=" and "head" in table.c:
        query = query.where(table.c.head == condition.value[:HEAD])
    return query


_LABELS: dict[str, Any] = {"param": run_params, "tag": run_tags}


def _text(column: Any, op: str, value: Any) -> ColumnElement[bool]:
    if op == "=":
        return column == value
    if op == "!=":
        return column != value
    if op in ("IN", "NOT IN"):
        return column.in_(list(value)) if op == "IN" else column.not_in(list(value))
    if op == "ILIKE":
        return func.lower(column).like(value.lower())
    if op == "LIKE":
        return like_exactly(column, value)
    raise ValueError(f"{op} does not compare texts")


def _attribute(condition: Condition) -> ColumnElement[bool]:
    if condition.key in _NUMERIC:
        return _NUMBERS[condition.op](_NUMERIC[condition.key], condition.value)
    return _text(_TEXTS[condition.key], condition.op, condition.value)


# Times are texts that sort; a search gives them as milliseconds, so its caller turns those into texts first (`ended_utc`).
_NUMERIC = {"began_ms": runs.c.began_ms, "ended_utc": runs.c.ended_utc}
_TEXTS = {
    "id": runs.c.id,
    "display_name": runs.c.display_name,
    "status": runs.c.status,
    "submitted_by": runs.c.submitted_by,
    "kind": runs.c.kind,
}


def _in_order(query: Select[Any], order: Sequence[Order]) -> Select[Any]:
    for one in order:
        query, columns = _ordered(query, one)
        query = query.order_by(*columns)
    return query


def _by_metric(query: Select[Any], order: Order) -> list[Select[Any]]:
    """Runs by the latest value of a metric, in three parts: those that have one, those where it is NaN, those without."""
    side = metrics.alias()
    of_run = and_(side.c.run_id == runs.c.id, side.c.name == order.key, side.c.last_step.is_not(None))
    valued = query.join(side, of_run)
    by_value = side.c.last_value.asc() if order.ascending else side.c.last_value.desc()
    return [
        valued.where(side.c.last_value.is_not(None)).order_by(by_value),
        valued.where(side.c.last_value.is_(None)),
        query.where(not_(exists(select(literal(1)).where(of_run)))),
    ]


def _ordered(query: Any, order: Order) -> tuple[Any, list[Any]]:
    """What has no value comes last, whichever way; NaN before that."""
    if order.kind == "attribute":
        column = {**_NUMERIC, **_TEXTS}[order.key]
        is_absent = case((column.is_(None), 1), else_=0)
        columns = [] if order.key in ("began_ms", "id") else [is_absent]
        return query, [*columns, column.asc() if order.ascending else column.desc()]
    if order.kind == "metric":
        side = metrics.alias()
        query = query.outerjoin(
            side, and_(side.c.run_id == runs.c.id, side.c.name == order.key, side.c.last_step.is_not(None))
        )
        rank = case((side.c.id.is_(None), 2), (side.c.last_value.is_(None), 1), else_=0)
        return query, [rank, side.c.last_value.asc() if order.ascending else side.c.last_value.desc()]
    table = (run_params if order.kind == "param" else run_tags).alias()
    query = query.outerjoin(table, and_(table.c.run_id == runs.c.id, table.c.key == order.key))
    rank = case((table.c.value.is_(None), 1), else_=0)
    return query, [rank, table.c.value.asc() if order.ascending else table.c.value.desc()]
