"""How a search is carried out: where it begins, and answers that come in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, TypeVar

from sqlalchemy import Connection, Row, Select, func, literal, select

__all__ = ["first_of_few", "rows_of", "without_index"]

FEW = 2000
_T = TypeVar("_T")


def first_of_few(conn: Connection, candidates: Sequence[tuple[_T, Optional[Select[Any]]]]) -> Optional[_T]:
    """The one with the fewest candidates, where those are few enough to look at each of them. None is counted further than that."""
    found: list[tuple[int, int]] = []
    for number, (_, query) in enumerate(candidates):
        if query is not None:
            some = query.with_only_columns(literal(1)).limit(FEW + 1).subquery()
            found.append((conn.execute(select(func.count()).select_from(some)).scalar() or 0, number))
    if not found or min(found)[0] > FEW:
        return None
    return candidates[min(found)[1]][0]


def without_index(column: Any) -> Any:
    """The column, so that SQLite does not begin with its index."""
    return column.concat("")


def rows_of(conn: Connection, parts: Sequence[Select[Any]], limit: int, offset: int) -> list[Row[Any]]:
    """Rows [offset, offset + limit) of the parts as if they were one; a part is asked only where the ones before do not suffice."""
    found: list[Row[Any]] = []
    skip = offset
    for part in parts:
        rows = conn.execute(part.limit(limit - len(found)).offset(skip)).all()
        found += rows
        if len(found) >= limit:
            break
        if rows or not skip or part is parts[-1]:
            skip = 0
        else:
            counted = part.order_by(None).with_only_columns(literal(1)).subquery()
            skip -= conn.execute(select(func.count()).select_from(counted)).scalar() or 0
    return found
