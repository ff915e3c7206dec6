"""Logs by line: how many there are, some of them, where a text stands, which tell of errors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from rookery.server.answers import JsonAnswer
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["logs"])

FAR = 2**53  # what a browser can count to


@router.get("/runs/{run_id}/log-index/{name:path}")
def index_log(run_id: str, name: str, services: Served) -> JsonAnswer:
    services.record.runs.check_exists(run_id)
    return strict_answer(services.record.log_lines.index(run_id, name))


@router.get("/runs/{run_id}/log-lines/{name:path}")
def read_log_lines(
    run_id: str,
    name: str,
    services: Served,
    start: Annotated[int, Query(ge=-FAR, le=FAR)] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
) -> JsonAnswer:
    """A negative start counts from the end."""
    services.record.runs.check_exists(run_id)
    return strict_answer(services.record.log_lines.read(run_id, name, start, limit))


@router.get("/runs/{run_id}/log-search/{name:path}")
def search_log(
    run_id: str,
    name: str,
    services: Served,
    text: Annotated[str, Query(min_length=1, max_length=1000)],
    case: bool = False,
    after: Annotated[int, Query(ge=0, le=FAR)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> JsonAnswer:
    """Plain text, not a pattern: a pattern could keep the keeper busy for ever."""
    services.record.runs.check_exists(run_id)
    return strict_answer(services.record.log_lines.search(run_id, name, text, case, after, limit))
