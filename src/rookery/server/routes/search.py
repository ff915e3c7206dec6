"""The table of runs: questions with any filter and order, what can be asked for, and runs side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query

from rookery.errors import RunNotFoundError
from rookery.record.run_table import Columns, RunQuery
from rookery.record.search import Condition, Order
from rookery.server.answers import JsonAnswer
from rookery.server.arguments import named_arguments
from rookery.server.schemas_views import CompareAsked, SearchAsked, SeriesAsked
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["search"])

MAX_ROWS = 2000
COMPARED = (
    "status", "experiment", "compute", "kind", "node_count", "processes_per_node", "attempt", "submitted_by", "created_utc",
    "duration_s",
)  # fmt: skip


@router.post("/search/runs")
def search_runs(asked: SearchAsked, services: Served) -> JsonAnswer:
    """A page of the table, and its small charts."""
    table, question = services.record.table, _question(asked)
    columns = Columns(*(None if names is None else tuple(names) for names in _columns(asked)))
    page, cursor = table.page(question, columns, asked.limit, asked.cursor)
    if asked.sparklines.metrics:
        ids = [run["id"] for run in page]
        lines = services.record.series.sparklines(ids, asked.sparklines.metrics, asked.sparklines.points)
        for run in page:
            run["series"] = lines.get(run["id"], {})
    return strict_answer({"runs": page, "cursor": cursor, "total": table.total(question) if asked.count else None})


@router.get("/search/names")
def list_names(
    services: Served,
    experiment: Annotated[list[str], Query()] = [],  # noqa: B006
    text: str = "",
    limit: int = 200,
) -> JsonAnswer:
    """What columns and filters can be offered."""
    return strict_answer(services.record.facets.names(experiment, text, limit))


@router.get("/search/values")
def list_values(services: Served, kind: str, key: str, text: str = "", limit: int = 50) -> JsonAnswer:
    """Known values of a parameter or tag."""
    return strict_answer({"values": services.record.facets.values(kind, key, text, limit)})


@router.post("/search/series")
def compare_series(asked: SeriesAsked, services: Served) -> JsonAnswer:
    """Curves of several runs, for one chart."""
    found = services.record.series.get(
        asked.runs, asked.names, points=asked.points, axis=asked.x, low=asked.from_, high=asked.to
    )
    return strict_answer({"series": found})


@router.post("/compare")
def compare_runs(asked: CompareAsked, services: Served) -> JsonAnswer:
    """Runs side by side: what differs first."""
    found = services.record.table.shown(asked.runs)
    there = {run["id"] for run in found}
    for run_id in asked.runs:
        if run_id not in there:
            raise RunNotFoundError(
                f"Run '{run_id}' does not exist in this workspace. List them with `rookery ps --all`."
            )
    for run in found:
        # What was logged as a parameter wins over an argument of the same name.
        run["params"] = {**named_arguments(services.record.runs.get(run["id"])["spec"]["arguments"]), **run["params"]}
    told: dict[str, Any] = {"more": {}}
    for kind in ("params", "metrics", "tags"):
        rows = _rows(
            found, sorted({name for run in found for name in run[kind]}), lambda run, name, k=kind: run[k].get(name)
        )
        told[kind], told["more"][kind] = rows[:MAX_ROWS], len(rows) > MAX_ROWS
    told["attributes"] = _rows(found, COMPARED, lambda run, name: run[name])
    brief = [{key: value for key, value in run.items() if key not in ("params", "metrics", "tags")} for run in found]
    return strict_answer({"runs": brief, **told})


def _question(asked: SearchAsked) -> RunQuery:
    return RunQuery(
        where=tuple(Condition(one.kind, one.key, one.op, one.value) for one in asked.where),
        text=asked.text,
        experiments=tuple(asked.experiments),
        statuses=tuple(asked.statuses),
        computes=tuple(asked.computes),
        kinds=tuple(asked.kinds),
        users=tuple(asked.users),
        parent=asked.parent,
        include_children=asked.include_children,
        archived=asked.archived,
        deleted=asked.deleted,
        sort=tuple(Order(one.kind, one.key, one.ascending) for one in asked.sort),
    )


def _columns(asked: SearchAsked) -> tuple[Any, Any, Any]:
    return asked.columns.metrics, asked.columns.params, asked.columns.tags


def _rows(found: list[dict[str, Any]], names: Any, value_of: Callable[..., Any]) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        values = [value_of(run, name) for run in found]
        rows.append({"name": name, "values": values, "differs": any(value != values[0] for value in values)})
    return sorted(rows, key=lambda row: not row["differs"])
