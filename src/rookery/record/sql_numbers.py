"""Texts as numbers and times as seconds, inside of SQL, on both databases.

What looks like a number is one: digits, a point, an exponent of at most two digits. A date does not; `nan` does not.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Boolean, Double

__all__ = ["is_number", "number_of", "seconds_between"]

_NEVER = (
    "*[^-+.0-9eE]*", "[^eE][-+]*", "?*[^eE][-+]*", "*.*.*", "*[eE]*[eE]*", "*[-+eE]", "[-+.][eE]*", "[-+].[eE]*", "*[eE]*.*",
    "*[eE]*[0-9][0-9][0-9]*",
)  # fmt: skip
_PATTERN = r"'^[+-]?([0-9]{1,40}([.][0-9]{0,40})?|[.][0-9]{1,40})([eE][+-]?[0-9]{1,2})?$'"


class is_number(GenericFunction[bool]):
    """Whether a text looks like a number."""

    type = Boolean()
    inherit_cache = True


class number_of(GenericFunction[float]):
    """The number that a text looks like. Only for texts that `is_number`; others give 0 or null."""

    type = Double()
    inherit_cache = True


class seconds_between(GenericFunction[float]):
    """Seconds from one of our times to another."""

    type = Double()
    inherit_cache = True


@compiles(is_number)
def _is_number(element: Any, compiler: Any, **more: Any) -> str:
    (column,) = element.clauses
    return f"({compiler.process(column, **more)} ~ {_PATTERN})"


@compiles(is_number, "sqlite")
def _is_number_sqlite(element: Any, compiler: Any, **more: Any) -> str:
    (column,) = element.clauses
    text = compiler.process(column, **more)
    # No regular expressions there: begins like one, has a digit, and nothing else than a number has, with signs only
    # at the beginning and after an exponent.
    parts = [f"{text} GLOB '[-+.0-9]*'", f"{text} GLOB '*[0-9]*'", f"length({text}) < 90"]
    return "(" + " AND ".join(parts + [f"{text} NOT GLOB '{glob}'" for glob in _NEVER]) + ")"


@compiles(number_of)
def _number_of(element: Any, compiler: Any, **more: Any) -> str:
    (column,) = element.clauses
    text = compiler.process(column, **more)
    # Guarded by itself: the order in which a database looks at conditions is its own.
    return f"(CASE WHEN {text} ~ {_PATTERN} THEN CAST({text} AS DOUBLE PRECISION) END)"


@compiles(number_of, "sqlite")
def _number_of_sqlite(element: Any, compiler: Any, **more: Any) -> str:
    (column,) = element.clauses
    return f"CAST({compiler.process(column, **more)} AS REAL)"


@compiles(seconds_between)
def _seconds_between(element: Any, compiler: Any, **more: Any) -> str:
    start, end = (compiler.process(clause, **more) for clause in element.clauses)
    return f"CAST(EXTRACT(EPOCH FROM CAST({end} AS TIMESTAMPTZ) - CAST({start} AS TIMESTAMPTZ)) AS DOUBLE PRECISION)"


@compiles(seconds_between, "sqlite")
def _seconds_between_sqlite(element: Any, compiler: Any, **more: Any) -> str:
    start, end = (compiler.process(clause, **more) for clause in element.clauses)
    return f"((julianday({end}) - julianday({start})) * 86400.0)"
