"""Live events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Optional

from fastapi import APIRouter, Header
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from rookery.errors import UserError
from rookery.server.auth import Asking, Principal, is_still_let_in
from rookery.server.events import event_stream
from rookery.server.services import Served, Services

__all__ = ["router"]

router = APIRouter(tags=["events"])

KINDS = (
    "status",
    "log",
    "metric",
    "run",
    "warning",
    "artifact",
    "compute",
    "environment",
    "model",
    "dataset",
    "draft",
    "endpoint",
    "trial",
)
LastEventId = Annotated[Optional[str], Header(alias="Last-Event-ID")]


@router.get("/runs/{run_id}/events")
async def run_events(
    run_id: str,
    services: Served,
    asking: Asking,
    after: Optional[int] = None,
    until: str = "",
    kinds: str = "",
    last: LastEventId = None,
) -> Response:
    """Everything of one run from the beginning, or after a number (-1: from now on); `until=end` closes when the run is over."""
    if until not in ("", "end"):
        raise UserError(f"until={until!r:.40} does not exist. Known: end.")
    await run_in_threadpool(services.record.runs.check_exists, run_id)
    start = _start(after, last)
    if start is not None and start < 0:
        start = await run_in_threadpool(services.record.events.last_seq)
    begin = 0 if start is None else start
    return event_stream(services, begin, run_id, until == "end", _kinds(kinds), _is_let_in(services, asking))


@router.get("/events")
async def all_events(
    services: Served, asking: Asking, after: Optional[int] = None, kinds: str = "", last: LastEventId = None
) -> Response:
    """Everything of the workspace after a number, or from now on."""
    start = _start(after, last)
    if start is None:
        start = await run_in_threadpool(services.record.events.last_seq)
    return event_stream(services, start, kinds=_kinds(kinds), is_let_in=_is_let_in(services, asking))


def _is_let_in(services: Services, asking: Principal) -> Callable[[], bool]:
    return lambda: is_still_let_in(services, asking)


def _kinds(text: str) -> tuple[str, ...]:
    wanted = tuple(kind for kind in text.split(",") if kind)
    unknown = [kind for kind in wanted if kind not in KINDS]
    if unknown:
        raise UserError(f"kinds={text!r:.80}: {unknown[0]!r:.40} does not exist. Known: {', '.join(KINDS)}.")
    return wanted


def _start(after: Optional[int], last: Optional[str]) -> Optional[int]:
    """`Last-Event-ID` is what a browser sends when it comes back, so it is the newer one."""
    if last:
        if not (last.isascii() and last.isdigit()):
            raise UserError(f"Last-Event-ID {last!r:.40} is not a number.")
        return int(last)
    return after
