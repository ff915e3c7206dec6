"""A run as its page shows it: overview, timeline, series, logged items, and its metrics as a file."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Optional

from fastapi import APIRouter, Query
from starlette.responses import Response

from rookery.errors import NotFoundError
from rookery.record.run_table import ARCHIVED_TAG
from rookery.record.text import clean_text
from rookery.server.answers import JsonAnswer, stream_answer
from rookery.server.run_phases import attempt_bars, phase_bars
from rookery.server.sample_lines import sample_lines
from rookery.server.services import Served, Services
from rookery.server.strict_json import strict_answer

__all__ = ["git_of", "router"]

router = APIRouter(tags=["run"])

GIT = "azureml.git."
CSV_ROWS = 2000


@router.get("/runs/{run_id}/overview")
def get_overview(run_id: str, services: Served) -> JsonAnswer:
    """What the page of a run shows first, in one answer."""
    record = services.record
    run = record.runs.get(run_id)
    parent = record.table.brief([run["parent_id"]]).get(run["parent_id"]) if run["parent_id"] else None
    children = record.table.children_by_status(run_id)
    found = record.search.one(run_id) or {}
    return strict_answer(
        {
            "run": run,
            "time": time.time(),
            "phases": phase_bars(run),
            "children": {"total": sum(children.values()), "by_status": children},
            "parent": parent,
            "metrics": record.series.names(run_id)[:2000],
            "logs": [{"name": name, "size": size} for name, size in record.logs.sizes(run_id).items()],
            "artifacts": record.artifacts.totals(run_id),
            "snapshot": _snapshot(services, run["snapshot_id"]),
            "git": git_of(run),
            "data": [
                {key: one[key] for key in ("direction", "kind", "name", "digest", "context")}
                for one in found.get("inputs", ())
            ],
            "models": [{"name": m["name"], "version": m["version"]} for m in record.models.list(run_id=run_id)[:200]],
            "environment": _environment(services, run),
            "deleted_utc": found.get("deleted_utc"),
            "archived": ARCHIVED_TAG in run["tags"],
        }
    )


@router.get("/runs/{run_id}/timeline")
def get_timeline(run_id: str, services: Served, points: Annotated[int, Query(ge=2, le=2000)] = 300) -> JsonAnswer:
    """Phases, tries, and what every node used."""
    run = services.record.runs.get(run_id)
    return strict_answer(
        {
            "time": time.time(),
            "phases": phase_bars(run),
            "attempts": attempt_bars(run),
            "samples": sample_lines(services.record.samples.some(run_id, points), points),
        }
    )


@router.get("/runs/{run_id}/series")
def get_series(
    run_id: str,
    services: Served,
    name: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006
    points: Annotated[int, Query(ge=2, le=5000)] = 1000,
    x: Literal["step", "time", "index"] = "step",
    low: Annotated[Optional[float], Query(alias="from", allow_inf_nan=False)] = None,
    high: Annotated[Optional[float], Query(alias="to", allow_inf_nan=False)] = None,
    by: Optional[Literal["rank"]] = None,
    rank: Annotated[list[Annotated[int, Query(ge=0, le=2**31 - 1)]], Query(max_length=64)] = [],  # noqa: B006
) -> JsonAnswer:
    """Curves, in as many points as a chart shows; ask again with a range to zoom. By rank: one of each rank that logged it."""
    found = services.record.series.get(
        [run_id], name or None, points=points, axis=x, low=low, high=high, by_rank=by == "rank", ranks=rank
    )
    return strict_answer({"series": found})


@router.get("/runs/{run_id}/items")
def get_items(
    run_id: str,
    services: Served,
    name: str,
    start: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JsonAnswer:
    """Rows, tables, images, matrices that were logged under a name; of a series its plain values."""
    found = services.record.metrics.get(run_id, name)
    if not found:
        known = ", ".join(one["name"] for one in services.record.series.names(run_id)[:20])
        raise NotFoundError(f"Run '{run_id}' has no metric '{name:.80}'. Known: {known or 'none'}.")
    metric = found[0]
    told: dict[str, Any] = {"name": metric["name"], "kind": metric["kind"], "start": start}
    end = start + limit
    if "columns" in metric:
        told["total"] = max((len(column) for column in metric["columns"].values()), default=0)
        told["columns"] = {column: values[start:end] for column, values in list(metric["columns"].items())[:500]}
        return strict_answer(told)
    items = metric["items"] if "items" in metric else metric["values"]
    told["total"], told["items"] = len(items), items[start:end]
    return strict_answer(told)


@router.get("/runs/{run_id}/metrics.csv")
def download_metrics(
    run_id: str, services: Served, name: Optional[str] = None, by: Optional[Literal["rank"]] = None
) -> Response:
    """Every value of every series: name, step, time (unix seconds), value; by rank also the rank that logged it."""
    services.record.runs.check_exists(run_id)
    wanted = (
        None if name is None else clean_text(name)
    )  # before the answer begins: then it is too late to refuse anything
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in run_id if c.isascii())[:120]
    headers = {"Content-Disposition": f'attachment; filename="{safe}-metrics.csv"', "X-Content-Type-Options": "nosniff"}
    return stream_answer(_csv(services, run_id, wanted, by == "rank"), "text/csv; charset=utf-8", headers)


def git_of(run: dict[str, Any]) -> dict[str, Any]:
    return {key[len(GIT) :]: value for key, value in run["properties"].items() if key.startswith(GIT)}


def _snapshot(services: Services, snapshot_id: Optional[str]) -> Optional[dict[str, Any]]:
    return None if not snapshot_id else services.record.snapshots.summary(snapshot_id)


def _environment(services: Services, run: dict[str, Any]) -> dict[str, Any]:
    asked = run["spec"]["environment"]
    built = (services.record.runs.state(run["id"]) or {}).get("built") or {}
    return {
        "name": asked["name"],
        "version": asked["version"],
        "key": built.get("key"),
        "python": built.get("python") or asked["python"],
        "user_managed": asked["user_managed"],
    }


def _csv(services: Services, run_id: str, name: Optional[str], by_rank: bool) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(("name", "step", "time", "value", "rank")[: 5 if by_rank else 4])
    for number, (metric, step, moment, value, rank) in enumerate(services.record.series.lines(run_id, name), 1):
        row = (_harmless(metric), "" if step is None else step, repr(moment), _harmless(value))
        writer.writerow((*row, "" if rank is None else rank) if by_rank else row)
        if number % CSV_ROWS == 0:
            yield buffer.getvalue().encode("utf-8", "replace")
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode("utf-8", "replace")


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets a quote before it."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
