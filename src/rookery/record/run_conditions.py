"""Conditions of the table of runs as SQL: those of `search.py`, and what only the table asks."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timezone
from typing import Any, Optional

from sqlalchemy import ColumnElement, Select, func, select

from rookery.errors import UserError
from rookery.record.clock import utc_now
from rookery.record.schema import experiments, metrics, run_tags, runs
from rookery.record.schema_tracking import HEAD, run_params
from rookery.record.search import Condition, clause_of, compare_numbers, compare_texts
from rookery.record.sql_numbers import is_number, number_of, seconds_between

__all__ = ["ATTRIBUTES", "candidates", "condition_clause"]

NUMBER_OPS = ("=", "!=", "<", "<=", ">", ">=")
TEXT_OPS = ("=", "!=", "LIKE", "ILIKE", "IN", "NOT IN")
NULL_OPS = ("IS NULL", "IS NOT NULL")
MAX_LIST = 500
_TEXTS: dict[str, Any] = {
    "id": runs.c.id, "name": runs.c.display_name, "status": runs.c.status, "experiment": experiments.c.name, "compute": runs.c.compute,
    "kind": runs.c.kind, "user": runs.c.submitted_by, "description": runs.c.description,
}  # fmt: skip
_TIMES = {"created": runs.c.created_utc, "started": runs.c.started_utc, "ended": runs.c.ended_utc}
_NUMBERS = {"number": runs.c.number, "attempt": runs.c.attempt}
ATTRIBUTES = (*_TEXTS, *_TIMES, *_NUMBERS, "duration")


def condition_clause(condition: Condition) -> ColumnElement[bool]:
    """What must hold of `runs` (joined with `experiments`); UserError says what is wrong with the condition."""
    if condition.kind == "metric":
        return _metric(condition)
    if condition.kind in ("param", "tag"):
        return _label(condition)
    if condition.kind == "attribute":
        return _attribute(condition)
    raise UserError(f"A condition of kind {condition.kind!r:.40} does not exist. Known: metric, param, tag, attribute.")


def candidates(condition: Condition) -> Optional[Select[Any]]:
    """Ids of the runs that fulfil it, where an index has them."""
    if condition.kind == "metric" and condition.op in ("=", "<", "<=", ">", ">="):
        return select(metrics.c.run_id).where(
            metrics.c.name == condition.key,
            metrics.c.last_step.is_not(None),
            compare_numbers(metrics.c.last_value, condition.op, _number(condition)),
        )
    if condition.kind in ("param", "tag") and condition.op == "=":
        table = run_params if condition.kind == "param" else run_tags
        query = select(table.c.run_id).where(table.c.key == condition.key, table.c.value == _texts(condition))
        return query.where(table.c.head == _texts(condition)[:HEAD]) if "head" in table.c else query
    return None


def _metric(condition: Condition) -> ColumnElement[bool]:
    _check_op(condition, (*NUMBER_OPS, *NULL_OPS))
    if condition.op in NULL_OPS:
        known = select(metrics.c.run_id).where(metrics.c.name == condition.key)
        return runs.c.id.not_in(known) if condition.op == "IS NULL" else runs.c.id.in_(known)
    return clause_of(Condition("metric", condition.key, condition.op, _number(condition)))


def _label(condition: Condition) -> ColumnElement[bool]:
    _check_op(condition, (*TEXT_OPS, *NULL_OPS, "<", "<=", ">", ">="))
    if condition.op in ("<", "<=", ">", ">="):
        table = run_params if condition.kind == "param" else run_tags
        value = table.c.value
        query = select(table.c.run_id).where(
            table.c.key == condition.key,
            is_number(value),
            compare_numbers(number_of(value), condition.op, _number(condition)),
        )
        return runs.c.id.in_(query)
    if condition.op in NULL_OPS:
        return clause_of(condition)
    return clause_of(Condition(condition.kind, condition.key, condition.op, _texts(condition)))


def _attribute(condition: Condition) -> ColumnElement[bool]:
    key = condition.key
    if key in _TEXTS:
        _check_op(condition, TEXT_OPS)
        return compare_texts(_TEXTS[key], condition.op, _texts(condition))
    if key in _TIMES:
        _check_op(condition, (*NUMBER_OPS, *NULL_OPS))
        if condition.op in NULL_OPS:
            return _TIMES[key].is_(None) if condition.op == "IS NULL" else _TIMES[key].is_not(None)
        return compare_numbers(_TIMES[key], condition.op, _moment(condition))
    if key in _NUMBERS or key == "duration":
        _check_op(condition, NUMBER_OPS)
        lasted = seconds_between(runs.c.started_utc, func.coalesce(runs.c.ended_utc, utc_now()))
        return compare_numbers(_NUMBERS.get(key, lasted), condition.op, _number(condition))
    raise UserError(f"Runs have no attribute {key!r:.60}. Known: {', '.join(ATTRIBUTES)}.")


def _check_op(condition: Condition, known: tuple[str, ...]) -> None:
    if condition.op not in known:
        raise UserError(
            f"{condition.kind} {condition.key!r:.60} cannot be compared with {condition.op!r:.20}. Known: {', '.join(known)}."
        )


def _number(condition: Condition) -> float:
    value = condition.value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
        return float(value)
    raise UserError(f"{condition.kind} {condition.key!r:.60} {condition.op} needs a number, not {value!r:.40}.")


def _texts(condition: Condition) -> Any:
    value = condition.value
    if condition.op in ("IN", "NOT IN"):
        if isinstance(value, list) and 0 < len(value) <= MAX_LIST and all(isinstance(v, str) for v in value):
            return value
        raise UserError(f"{condition.kind} {condition.key!r:.60} {condition.op} needs a list of 1 to {MAX_LIST} texts.")
    if isinstance(value, str):
        return value
    raise UserError(f"{condition.kind} {condition.key!r:.60} {condition.op} needs a text, not {value!r:.40}.")


def _moment(condition: Condition) -> str:
    """A time from outside as one of our texts: `2026-11-16`, with a time of day, with Z or an offset."""
    text = str(condition.value)
    try:
        # Python 3.9 takes neither Z nor fractions of other than three or six digits.
        plain = re.sub(r"[zZ]\Z", "+00:00", text)
        plain = re.sub(r"\.(\d{1,6})\d*", lambda m: "." + m.group(1).ljust(6, "0"), plain)
        moment = datetime.fromisoformat(plain)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError):
        raise UserError(
            f"attribute {condition.key!r:.60} {condition.op} needs a time such as 2026-11-16T08:00:00Z, not {text!r:.40}."
        ) from None
