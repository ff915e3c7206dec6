"""The order of the table of runs, and going on from where a page ended.

An order is a list of stages: those that have a value of the first column, then those that have none, both sorted by the rest. One
stage is asked for after the other, so an index on the values is used and a page costs what it shows. Within a stage every
key has a value, so "after this row" is a plain comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select

from rookery.errors import UserError
from rookery.record.schema import experiments, metrics, run_tags, runs
from rookery.record.schema_tracking import run_params
from rookery.record.search import Order
from rookery.record.search_plan import without_index
from rookery.record.sql_numbers import is_number, number_of, seconds_between

__all__ = ["SORT_KEYS", "Stage", "after", "order_stages"]

Narrow = Callable[[Select[Any]], Select[Any]]
_PRESENT: dict[str, Any] = {
    "name": runs.c.display_name, "number": runs.c.number, "status": runs.c.status, "experiment": experiments.c.name,
    "compute": runs.c.compute, "user": runs.c.submitted_by, "kind": runs.c.kind, "attempt": runs.c.attempt, "id": runs.c.id,
}  # fmt: skip
_MAYBE = {"started": runs.c.started_utc, "ended": runs.c.ended_utc}
SORT_KEYS = ("created", "duration", *_MAYBE, *_PRESENT)


@dataclass(frozen=True)
class Stage:
    """One part of the order: what it is narrowed to, and (key, ascending) of what it is sorted by, `seq` last."""

    narrow: Narrow
    keys: tuple[tuple[Any, bool], ...]


@dataclass(frozen=True)
class _Sorted:
    """One column. As the first one: its stages as (narrow, keys). As a later one: what it joins, and its keys, of which the
    first is a rank that puts what has no value last."""

    stages: tuple[tuple[Narrow, tuple[Any, ...]], ...]
    join: Narrow
    keys: tuple[Any, ...]


def order_stages(order: Sequence[Order], now: str, is_few: bool = False) -> list[Stage]:
    """The stages of a whole order; `now` is when what still goes on would end. Where few runs are to be ordered SQLite is not
    to begin at the values of a column, of which there are many."""
    if not order or _is_created(order[0]):
        return [Stage(_as_it_is, ((runs.c.seq, bool(order) and order[0].ascending),))]
    first, stages = order[0], []
    for narrow, own_keys in _sorted(first, now, is_few).stages:
        keys = [(key, first.ascending) for key in own_keys]
        joins = [narrow]
        for one in order[1:]:
            if _is_created(one):
                keys.append((runs.c.seq, one.ascending))
                break
            column = _sorted(one, now, is_few)
            joins.append(column.join)
            keys += [(key, one.ascending or i == 0) for i, key in enumerate(column.keys)]
        if keys[-1:] == [] or keys[-1][0] is not runs.c.seq:
            keys.append((runs.c.seq, False))
        stages.append(Stage(_one_after_the_other(joins), tuple(keys)))
    return stages


def after(keys: Sequence[tuple[Any, bool]], values: Sequence[Any]) -> ColumnElement[bool]:
    """What comes after the row that has these values."""
    parts = []
    for i, (key, ascending) in enumerate(keys):
        same = [k == v for (k, _), v in zip(keys[:i], values[:i])]
        parts.append(and_(*same, key > values[i] if ascending else key < values[i]))
    if len(keys) == 1:
        return parts[0]
    # Follows from the rest; with it an index on the first key is entered where the page begins.
    first, ascending = keys[0]
    return and_(first >= values[0] if ascending else first <= values[0], or_(*parts))


def _is_created(one: Order) -> bool:
    return one.kind == "attribute" and one.key == "created"


def _as_it_is(query: Select[Any]) -> Select[Any]:
    return query


def _one_after_the_other(steps: Sequence[Narrow]) -> Narrow:
    def narrow(query: Select[Any]) -> Select[Any]:
        for step in steps:
            query = step(query)
        return query

    return narrow


def _sorted(one: Order, now: str, is_few: bool) -> _Sorted:
    if one.kind == "metric":
        return _by_metric(one.key, is_few)
    if one.kind in ("param", "tag"):
        return _by_label(run_params if one.kind == "param" else run_tags, one.key, is_few)
    if one.key in _PRESENT:
        column = _PRESENT[one.key]
        return _Sorted(((_as_it_is, (column,)),), _as_it_is, (_never_missing(), column))
    value: Any
    zero: Any = ""
    if one.key in _MAYBE:
        value, missing = _MAYBE[one.key], _MAYBE[one.key].is_(None)
    elif one.key == "duration":
        value = seconds_between(runs.c.started_utc, func.coalesce(runs.c.ended_utc, now))
        missing, zero = runs.c.started_utc.is_(None), 0.0
    else:
        raise UserError(f"Runs cannot be sorted by {one.key!r:.60}. Known: {', '.join(SORT_KEYS)}.")
    return _Sorted(
        ((lambda query: query.where(~missing), (value,)), (lambda query: query.where(missing), ())),
        _as_it_is,
        (case((missing, 1), else_=0), func.coalesce(value, zero)),
    )


def _never_missing() -> ColumnElement[int]:
    return case((runs.c.seq.is_(None), 1), else_=0)


def _lacks(query: Select[Any], run_id: Any, is_few: bool) -> ColumnElement[bool]:
    """Whether a run is not among those: of few each is looked up, of many all are listed once."""
    return ~exists(query.where(run_id == runs.c.id)) if is_few else runs.c.id.not_in(query)


def _by_metric(name: str, is_few: bool) -> _Sorted:
    side = metrics.alias()
    own_name = without_index(side.c.name) if is_few else side.c.name
    joined = and_(side.c.run_id == runs.c.id, own_name == name, side.c.last_step.is_not(None))
    having = select(metrics.c.run_id).where(metrics.c.name == name, metrics.c.last_step.is_not(None))
    lacks = _lacks(having, metrics.c.run_id, is_few)
    return _Sorted(
        (
            (lambda query: query.join(side, joined).where(side.c.last_value.is_not(None)), (side.c.last_value,)),
            (lambda query: query.join(side, joined).where(side.c.last_value.is_(None)), ()),  # NaN
            (lambda query: query.where(lacks), ()),
        ),
        lambda query: query.outerjoin(side, joined),
        (
            case((side.c.id.is_(None), 2), (side.c.last_value.is_(None), 1), else_=0),
            func.coalesce(side.c.last_value, 0.0),
        ),
    )


def _by_label(table: Any, key: str, is_few: bool) -> _Sorted:
    """Numbers first, as numbers; then texts."""
    side = table.alias()
    joined = and_(side.c.run_id == runs.c.id, (without_index(side.c.key) if is_few else side.c.key) == key)
    numeric = is_number(side.c.value)
    having = select(table.c.run_id).where(table.c.key == key, table.c.value.is_not(None))
    lacks = _lacks(having, table.c.run_id, is_few)
    return _Sorted(
        (
            (lambda query: query.join(side, joined).where(numeric), (number_of(side.c.value), side.c.value)),
            (lambda query: query.join(side, joined).where(side.c.value.is_not(None), ~numeric), (side.c.value,)),
            (lambda query: query.where(lacks), ()),
        ),
        lambda query: query.outerjoin(side, joined),
        (
            case((side.c.value.is_(None), 2), (numeric, 0), else_=1),
            case((numeric, number_of(side.c.value)), else_=0.0),
            func.coalesce(side.c.value, ""),
        ),
    )
