"""What there is to filter and to sort by: names of metrics, parameters and tags, and their values, with how many runs have them.

Known names are found by jumping from one to the next in an index, never by walking over all rows; counts stop at a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, func, select

from rookery.errors import UserError
from rookery.record.database import Database
from rookery.record.schema import experiments, metrics, run_tags, runs
from rookery.record.schema_tracking import run_params

__all__ = ["Facets"]

COUNTED = 1000  # runs up to which a count goes
MAX_NAMES = 1000
VALUES_SEEN = 10_000


class Facets:
    def __init__(self, db: Database) -> None:
        self._db = db

    def names(self, experiment_names: Sequence[str] = (), text: str = "", limit: int = 200) -> dict[str, Any]:
        """{"metrics": [{"name", "runs"}…], …}, most used first. Of some experiments: of their newest runs."""
        if not 1 <= limit <= MAX_NAMES:
            raise UserError(f"limit={limit} must be between 1 and {MAX_NAMES}.")
        found: dict[str, Any] = {"more": {}}
        with self._db.read() as conn:
            ids = _experiment_ids(conn, experiment_names) if experiment_names else None
            for kind, column, owner in (
                ("metrics", metrics.c.name, metrics.c.run_id),
                ("params", run_params.c.key, run_params.c.run_id),
                ("tags", run_tags.c.key, run_tags.c.run_id),
            ):
                pairs = _all_names(conn, column) if ids is None else _names_of(conn, column, owner, ids)
                _put(found, kind, pairs, text, limit)
            for kind, column in (("computes", runs.c.compute), ("statuses", runs.c.status)):
                _put(found, kind, _all_names(conn, column), text if kind == "computes" else "", limit)
            newest = select(runs.c.submitted_by).order_by(runs.c.seq.desc()).limit(VALUES_SEEN).subquery()
            users = conn.execute(select(newest.c.submitted_by, func.count()).group_by(newest.c.submitted_by)).all()
            _put(found, "users", [(name, count) for name, count in users], text, limit)
            query = select(experiments.c.name, experiments.c.run_count).where(experiments.c.archived_utc.is_(None))
            _put(found, "experiments", [(name, count) for name, count in conn.execute(query)], text, limit)
        return found

    def values(self, kind: str, key: str, text: str = "", limit: int = 50) -> list[dict[str, Any]]:
        """Known values of a parameter or tag, most used first."""
        if kind not in ("param", "tag"):
            raise UserError(f"kind={kind!r:.40} does not exist. Known: param, tag.")
        if not 1 <= limit <= MAX_NAMES:
            raise UserError(f"limit={limit} must be between 1 and {MAX_NAMES}.")
        table = run_params if kind == "param" else run_tags
        seen = select(func.substr(table.c.value, 1, 500).label("value")).where(table.c.key == key).limit(VALUES_SEEN)
        if text:
            seen = seen.where(func.lower(table.c.value).contains(text.lower(), autoescape=True))
        part = seen.subquery()
        query = select(part.c.value, func.count().label("runs")).group_by(part.c.value)
        with self._db.read() as conn:
            rows = conn.execute(query.order_by(func.count().desc(), part.c.value).limit(limit)).all()
        return [{"value": row.value, "runs": row.runs} for row in rows]


def _put(found: dict[str, Any], kind: str, pairs: list[tuple[Any, int]], text: str, limit: int) -> None:
    small = text.lower()
    wanted = [(name, count) for name, count in pairs if name and small in str(name).lower()]
    wanted.sort(key=lambda pair: (-pair[1], pair[0]))
    found[kind] = [{"name": name, "runs": count} for name, count in wanted[:limit]]
    found["more"][kind] = len(wanted) > limit or len(pairs) >= MAX_NAMES


def _all_names(conn: Connection, column: Any) -> list[tuple[Any, int]]:
    """Every value that an indexed column has, each with how many rows have it, as far as COUNTED."""
    names: list[Any] = []
    last: Optional[Any] = None
    while len(names) < MAX_NAMES:
        query = select(func.min(column)) if last is None else select(func.min(column)).where(column > last)
        last = conn.execute(query).scalar()
        if last is None:
            break
        names.append(last)
    counted = []
    for name in names:
        part = select(column).where(column == name).limit(COUNTED).subquery()
        counted.append((name, int(conn.execute(select(func.count()).select_from(part)).scalar() or 0)))
    return counted


def _names_of(conn: Connection, column: Any, owner: Any, experiment_ids: Sequence[str]) -> list[tuple[Any, int]]:
    newest = (
        select(runs.c.id)
        .where(runs.c.experiment_id.in_(list(experiment_ids)))
        .order_by(runs.c.seq.desc())
        .limit(COUNTED)
        .subquery()
    )
    query = select(column, func.count()).where(owner.in_(select(newest.c.id))).group_by(column).limit(MAX_NAMES)
    return [(name, count) for name, count in conn.execute(query)]


def _experiment_ids(conn: Connection, names: Sequence[str]) -> list[str]:
    return [i for (i,) in conn.execute(select(experiments.c.id).where(experiments.c.name.in_(list(names))))]
