"""Listings of runs: filters, pages by cursor, families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from sqlalchemy import Connection, Select, select

from rookery.errors import UserError
from rookery.record.run_rows import plain_runs, run_columns, run_row
from rookery.record.schema import experiments, run_properties, run_tags, runs
from rookery.spec.status import ACTIVE, RunStatus

__all__ = ["RunFilter", "children_of", "is_within", "page_of_runs"]

MAX_PAGE = 1000
MAX_DEPTH = 10_000


@dataclass(frozen=True)
class RunFilter:
    """What a listing asks for. `tags` and `properties` hold `key` or `key=value`; all must hold, any status may."""

    experiment: Optional[str] = None
    parent: Optional[str] = None
    statuses: tuple[str, ...] = ()
    kind: Optional[str] = None
    tags: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    compute: Optional[str] = None
    include_children: bool = False


def page_of_runs(
    conn: Connection, wanted: RunFilter, limit: int, cursor: Optional[str]
) -> tuple[list[dict[str, Any]], Optional[str]]:
    """(runs, newest first; the cursor of the next page or None)."""
    if not 1 <= limit <= MAX_PAGE:
        raise UserError(f"limit={limit} must be between 1 and {MAX_PAGE}.")
    query = _filtered(conn, wanted)
    if query is None:
        return [], None
    query = query.where(runs.c.deleted_utc.is_(None))
    if wanted.parent is None and not wanted.include_children:
        query = query.where(runs.c.parent_id.is_(None))
    if cursor is not None:
        query = query.where(runs.c.seq < _read_cursor(cursor))
    rows = conn.execute(query.order_by(runs.c.seq.desc()).limit(limit + 1)).all()
    page = rows[:limit]
    return plain_runs(conn, page), str(page[-1].seq) if len(rows) > limit else None


def children_of(conn: Connection, run_id: str, recursive: bool, wanted: RunFilter) -> list[dict[str, Any]]:
    """Children, or all descendants, oldest first."""
    run_row(conn, run_id)
    query = _filtered(conn, wanted)
    if query is None:
        return []
    if recursive:
        family = select(runs.c.id).where(runs.c.parent_id == run_id).cte("family", recursive=True)
        family = family.union_all(select(runs.c.id).where(runs.c.parent_id == family.c.id))
        query = query.where(runs.c.id.in_(select(family.c.id)))
    else:
        query = query.where(runs.c.parent_id == run_id)
    query = query.where(runs.c.deleted_utc.is_(None))
    return plain_runs(conn, conn.execute(query.order_by(runs.c.seq)).all())


def is_within(conn: Connection, run_id: str, ancestor: str) -> bool:
    """Whether `run_id` is `ancestor` or one of its descendants."""
    current: Optional[str] = run_id
    for _ in range(MAX_DEPTH):
        if current == ancestor:
            return True
        if current is None:
            return False
        current = conn.execute(select(runs.c.parent_id).where(runs.c.id == current)).scalar()
    return False


def _filtered(conn: Connection, wanted: RunFilter) -> Optional[Select[Any]]:
    """The select with the filters, or None when nothing can match."""
    query = run_columns()
    if wanted.experiment is not None:
        experiment_id = conn.execute(select(experiments.c.id).where(experiments.c.name == wanted.experiment)).scalar()
        if experiment_id is None:
            return None
        query = query.where(runs.c.experiment_id == experiment_id)
    if wanted.parent is not None:
        query = query.where(runs.c.parent_id == wanted.parent)
    if wanted.statuses:
        statuses = [_status(s) for s in wanted.statuses]
        matching = runs.c.status.in_(statuses)
        # Few runs are live among very many: found by their status first, not by looking at every run in order.
        is_rare = all(RunStatus(s) in ACTIVE for s in statuses)
        query = query.where(runs.c.seq.in_(select(runs.c.seq).where(matching)) if is_rare else matching)
    if wanted.kind is not None:
        query = query.where(runs.c.kind == wanted.kind)
    if wanted.compute is not None:
        query = query.where(runs.c.compute == wanted.compute)
    for table, filters in ((run_tags, wanted.tags), (run_properties, wanted.properties)):
        for text in filters:
            query = query.where(runs.c.id.in_(_labelled(table, text)))
    return query


def _labelled(table: Any, text: str) -> Select[Any]:
    key, equals, value = text.partition("=")
    query = select(table.c.run_id).where(table.c.key == key)
    return query.where(table.c.value == value) if equals else query


def _status(word: str) -> str:
    try:
        return RunStatus(word).value
    except ValueError:
        raise UserError(
            f"Status {word!r:.80} does not exist. Known: {', '.join(s.value for s in RunStatus)}."
        ) from None


def _read_cursor(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise UserError(f"cursor={cursor!r:.80} is not one that a listing has returned.")
    return int(cursor)
