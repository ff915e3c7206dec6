"""LIKE that minds capitals, on both databases."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Boolean

__all__ = ["like_exactly"]


class case_like(GenericFunction[bool]):
    """`column LIKE pattern`; SQLite's ignores capitals, so there it is a GLOB."""

    type = Boolean()
    inherit_cache = True


def like_exactly(column: Any, pattern: str) -> ColumnElement[bool]:
    return case_like(column, pattern, _glob(pattern))


@compiles(case_like)
def _like(element: Any, compiler: Any, **more: Any) -> str:
    column, pattern, _ = element.clauses
    return f"({compiler.process(column, **more)} LIKE {compiler.process(pattern, **more)})"


@compiles(case_like, "sqlite")
def _sqlite(element: Any, compiler: Any, **more: Any) -> str:
    column, _, pattern = element.clauses
    return f"({compiler.process(column, **more)} GLOB {compiler.process(pattern, **more)})"


def _glob(pattern: str) -> str:
    """The pattern in GLOB's signs: its own are put in brackets, then % is * and _ is ?."""
    quoted = "".join(f"[{c}]" if c in "*?[" else c for c in pattern)
    return quoted.replace("%", "*").replace("_", "?")
