"""The table of runs: any filter, any order, a page at a time, with what its columns show. Built from the pieces of `search.py`."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

from sqlalchemy import ColumnElement, Connection, Select, Text, func, or_, select, type_coerce

from rookery.errors import UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.metrics import latest_metrics
from rookery.record.run_brief import brief_columns, brief_of, brief_runs
from rookery.record.run_conditions import candidates, condition_clause
from rookery.record.run_order import after, order_stages
from rookery.record.run_rows import labels_of
from rookery.record.schema import experiments, run_tags, runs
from rookery.record.schema_tracking import run_params
from rookery.record.search import Condition, Order
from rookery.record.search_plan import first_of_few, without_index
from rookery.spec.status import ACTIVE, RunStatus

__all__ = ["ARCHIVED_TAG", "Columns", "RunQuery", "RunTable"]

ARCHIVED_TAG = "rookery.archived"
MAX_PAGE = 500
MAX_NAMES = 200
ENVIRONMENT_LOOKED = 5000
ARCHIVED = ("no", "only", "all")


@dataclass(frozen=True)
class Columns:
    """Which names a page shows of each kind; None: all, as far as MAX_NAMES go."""

    metrics: Optional[tuple[str, ...]] = None
    params: Optional[tuple[str, ...]] = None
    tags: Optional[tuple[str, ...]] = None


@dataclass(frozen=True)
class RunQuery:
    """A question to the table. All of it must hold; of `experiments`, `statuses` … any one."""

    where: tuple[Condition, ...] = ()
    text: str = ""
    experiments: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    computes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    parent: Optional[str] = None
    include_children: bool = False
    archived: str = "no"
    deleted: bool = False
    sort: tuple[Order, ...] = ()


class RunTable:
    def __init__(self, db: Database, stale_s: float = 900.0) -> None:
        self._db = db
        self._stale_s = stale_s

    def page(
        self, asked: RunQuery, columns: Columns = Columns(), limit: int = 50, cursor: Optional[str] = None
    ) -> tuple[list[dict[str, Any]], Optional[str]]:
        """(runs in brief with their metrics, params and tags; the cursor of the next page or None)."""
        if not 1 <= limit <= MAX_PAGE:
            raise UserError(f"limit={limit} must be between 1 and {MAX_PAGE}.")
        place = _read_cursor(cursor, asked) if cursor is not None else _Place(0, (), utc_now())
        with self._db.read() as conn:
            clauses, is_few = _clauses(conn, asked, self._db.is_sqlite)
            stages = order_stages(asked.sort, place.now, is_few)
            if place.stage >= len(stages) or (place.values and len(place.values) != len(stages[place.stage].keys)):
                raise _bad_cursor(cursor)
            found: list[int] = []
            last = place
            for number in range(place.stage, len(stages)):
                start = place.values if number == place.stage else ()
                query = stages[number].narrow(_from(select(runs.c.seq), asked).where(*clauses))
                rows = _keys(conn, query, stages[number].keys, start, limit + 1 - len(found), is_few)
                room = limit - len(found)
                found += [row.seq for row in rows]
                if rows[:room]:
                    last = _Place(number, tuple(rows[:room][-1][1:]), place.now)
                if len(found) > limit:
                    return self._filled(conn, found[:limit], columns), _write_cursor(last, asked)
            return self._filled(conn, found, columns), None

    def total(self, asked: RunQuery) -> int:
        """How many there are in all."""
        with self._db.read() as conn:
            clauses, _ = _clauses(conn, asked, self._db.is_sqlite)
            query = _from(select(func.count()), asked).where(*clauses)
            return int(conn.execute(query).scalar() or 0)

    def children_by_status(self, run_id: str) -> dict[str, int]:
        query = (
            select(runs.c.status, func.count())
            .where(runs.c.parent_id == run_id, runs.c.deleted_utc.is_(None))
            .group_by(runs.c.status)
        )
        with self._db.read() as conn:
            return {row[0]: row[1] for row in conn.execute(query)}

    def of_environment(self, name: str, version: Optional[str], limit: int) -> list[str]:
        """Ids of runs that asked for an environment of this name, newest first, among the newest ENVIRONMENT_LOOKED."""
        # As it stands in the text of every spec: the fields of a specification have one order.
        named = f'"environment":{{"name":{json.dumps(name)},'
        if version is not None:
            named += f'"version":{json.dumps(version)},'
        with self._db.read() as conn:
            last = conn.execute(select(func.max(runs.c.seq))).scalar() or 0
            query = select(runs.c.id).where(
                runs.c.seq > last - ENVIRONMENT_LOOKED,
                runs.c.deleted_utc.is_(None),
                type_coerce(runs.c.spec, Text).contains(named, autoescape=True),
            )
            return [run_id for (run_id,) in conn.execute(query.order_by(runs.c.seq.desc()).limit(limit))]

    def brief(self, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """BriefRuns by id; one that does not exist is left out."""
        with self._db.read() as conn:
            return brief_of(conn, run_ids, self._stale_s)

    def shown(self, run_ids: Sequence[str], columns: Columns = Columns()) -> list[dict[str, Any]]:
        """These runs as a page shows them, in this order; one that does not exist is left out."""
        with self._db.read() as conn:
            found = brief_of(conn, run_ids, self._stale_s)
            page = [found[run_id] for run_id in dict.fromkeys(run_ids) if run_id in found]
            return self._with_values(conn, page, columns)

    def _filled(self, conn: Connection, numbers: Sequence[int], columns: Columns) -> list[dict[str, Any]]:
        rows = conn.execute(_from(select(*brief_columns())).where(runs.c.seq.in_(list(numbers)))).all()
        by_number = {row.seq: row for row in rows}
        page = brief_runs(conn, [by_number[number] for number in numbers if number in by_number], self._stale_s)
        return self._with_values(conn, page, columns)

    def _with_values(self, conn: Connection, page: list[dict[str, Any]], columns: Columns) -> list[dict[str, Any]]:
        ids = [run["id"] for run in page]
        latest = latest_metrics(conn, ids) if columns.metrics != () else {}
        params = labels_of(conn, run_params, ids) if columns.params != () else {}
        tags = labels_of(conn, run_tags, ids) if columns.tags != () else {}
        for run in page:
            values = {one["name"]: one["value"] for one in latest.get(run["id"], ())}
            run["metrics"] = _chosen(values, columns.metrics)
            run["params"] = _chosen(params.get(run["id"], {}), columns.params)
            run["tags"] = _chosen(tags.get(run["id"], {}), columns.tags)
        return page


@dataclass(frozen=True)
class _Place:
    """Where a page ended: the stage, the keys of its last row, and what `now` was when the first page was asked for."""

    stage: int
    values: tuple[Any, ...]
    now: str


def _from(query: Select[Any], asked: Optional[RunQuery] = None) -> Select[Any]:
    """From the runs, with their experiments unless a question is given that does not ask for those."""
    query = query.select_from(runs)
    named = ("attribute", "experiment")
    keys = [] if asked is None else [(c.kind, c.key) for c in asked.where] + [(o.kind, o.key) for o in asked.sort]
    if asked is None or named in keys:
        query = query.join(experiments, experiments.c.id == runs.c.experiment_id)
    return query


def _keys(
    conn: Connection, query: Select[Any], keys: Sequence[Any], start: Sequence[Any], limit: int, is_few: bool
) -> Sequence[Any]:
    """(seq, keys…) of the next rows of a stage. Only those: what is sorted should be small, and most of it is not shown."""
    query = query.add_columns(*(key.label(f"key_{i}") for i, (key, _) in enumerate(keys)))
    if start:
        query = query.where(after(keys, start))
    # Few runs fulfil a condition: SQLite is not to walk over all in their order until it has met those.
    order = [(key + 0 if is_few and key is runs.c.seq else key, ascending) for key, ascending in keys]
    return conn.execute(
        query.order_by(*(k.asc() if ascending else k.desc() for k, ascending in order)).limit(limit)
    ).all()


def _chosen(values: dict[str, Any], names: Optional[tuple[str, ...]]) -> dict[str, Any]:
    if names is None:
        return dict(list(values.items())[:MAX_NAMES])
    return {name: values[name] for name in names if name in values}


def _clauses(conn: Connection, asked: RunQuery, is_sqlite: bool) -> tuple[list[ColumnElement[bool]], bool]:
    """(what must hold, whether a condition leaves only few runs). SQLite knows nothing of how many rows a condition leaves, so it
    is told where to begin: at the few, if there are such. PostgreSQL keeps statistics, and finds the way by itself."""
    few = None
    if is_sqlite:
        few = first_of_few(conn, [(condition, candidates(condition)) for condition in asked.where])
    column: Callable[[Any], Any] = without_index if few is not None else lambda one: one
    found = [_holds(condition, condition is few) for condition in asked.where]
    found.append(runs.c.deleted_utc.is_not(None) if asked.deleted else runs.c.deleted_utc.is_(None))
    found += _of_experiments(conn, asked, column(runs.c.experiment_id))
    if asked.parent is not None:
        found.append(column(runs.c.parent_id) == asked.parent)
    elif not asked.include_children:
        found.append(column(runs.c.parent_id).is_(None))
    if asked.statuses:
        # Of several statuses SQLite would take all runs from the index, and sort them.
        apart = is_sqlite and (few is not None or len(asked.statuses) > 1)
        found.append(_of_statuses(asked.statuses, without_index(runs.c.status) if apart else runs.c.status))
    for one, values in (
        (runs.c.compute, asked.computes),
        (runs.c.kind, asked.kinds),
        (runs.c.submitted_by, asked.users),
    ):
        if values:
            found.append(column(one).in_(list(values)))
    if asked.archived not in ARCHIVED:
        raise UserError(f"archived={asked.archived!r:.40} does not exist. Known: {', '.join(ARCHIVED)}.")
    if asked.archived != "all":
        put_away = select(run_tags.c.run_id).where(run_tags.c.key == ARCHIVED_TAG)
        found.append(
            column(runs.c.id).in_(put_away) if asked.archived == "only" else column(runs.c.id).not_in(put_away)
        )
    return found + [_has_word(word) for word in asked.text.split()[:20]], few is not None


def _holds(condition: Condition, is_few: bool) -> ColumnElement[bool]:
    query = candidates(condition) if is_few else None
    return condition_clause(condition) if query is None else runs.c.id.in_(query)


def _of_experiments(conn: Connection, asked: RunQuery, column: Any) -> list[ColumnElement[bool]]:
    if asked.experiments:
        query = select(experiments.c.id).where(experiments.c.name.in_(list(asked.experiments)))
        ids = [found for (found,) in conn.execute(query)]
        return [column == ids[0] if len(ids) == 1 else column.in_(ids)]
    if asked.archived == "all":
        return []
    away = [i for (i,) in conn.execute(select(experiments.c.id).where(experiments.c.archived_utc.is_not(None)))]
    if asked.archived == "only" or not away:
        return []
    return [column.not_in(away)]


def _of_statuses(words: Sequence[str], column: Any) -> ColumnElement[bool]:
    known = [s.value for s in RunStatus]
    for word in words:
        if word not in known:
            raise UserError(f"Status {word!r:.80} does not exist. Known: {', '.join(known)}.")
    matching = column.in_(list(words))
    # Few runs are live among very many: found by their status first, not by looking at every run in order.
    is_rare = all(RunStatus(word) in ACTIVE for word in words)
    return runs.c.seq.in_(select(runs.c.seq).where(runs.c.status.in_(list(words)))) if is_rare else matching


def _has_word(word: str) -> ColumnElement[bool]:
    small = word.lower()
    named = select(experiments.c.id).where(func.lower(experiments.c.name).contains(small, autoescape=True))
    return or_(
        func.lower(runs.c.display_name).contains(small, autoescape=True),
        func.lower(runs.c.id).contains(small, autoescape=True),
        func.lower(runs.c.description).contains(small, autoescape=True),
        runs.c.experiment_id.in_(named),
    )


def _mark(asked: RunQuery) -> str:
    """What a cursor belongs to."""
    return hashlib.sha256(json.dumps(asdict(asked), sort_keys=True, default=str).encode()).hexdigest()[:12]


def _write_cursor(place: _Place, asked: RunQuery) -> str:
    text = json.dumps([_mark(asked), place.stage, list(place.values), place.now], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode("ascii").rstrip("=")


def _read_cursor(cursor: str, asked: RunQuery) -> _Place:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        mark, stage, values, now = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise _bad_cursor(cursor) from None
    plain = isinstance(values, list) and all(isinstance(v, (int, float, str)) for v in values)
    if not plain or not isinstance(stage, int) or isinstance(stage, bool) or stage < 0 or not isinstance(now, str):
        raise _bad_cursor(cursor)
    if any(isinstance(v, int) and abs(v) >= 2**63 for v in values) or len(now) != 27:
        raise _bad_cursor(cursor)
    if mark != _mark(asked):
        raise UserError("cursor belongs to another question: filters and order must stay the same from page to page.")
    return _Place(stage, tuple(values), now)


def _bad_cursor(cursor: Optional[str]) -> UserError:
    return UserError(f"cursor={cursor!r:.80} is not one that this search has returned. Leave it out to begin again.")
