"""Server-sent events: rows of the table `events`, in order, as they are committed."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Optional

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from rookery.record import Record
from rookery.server.services import Services, Waiter

__all__ = ["event_stream"]

KEEP_ALIVE_S = 15.0
PAGE = 200


def event_stream(
    services: Services,
    after: int,
    run_id: Optional[str] = None,
    until_end: bool = False,
    kinds: Sequence[str] = (),
    is_let_in: Callable[[], bool] = lambda: True,
) -> StreamingResponse:
    """Everything after `after` (of some kinds), of one run or of all, for as long as the reader stays and is let in (or until
    the run is over)."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _frames(services, after, run_id, until_end, kinds, is_let_in), headers=headers, media_type="text/event-stream"
    )


async def _frames(
    services: Services,
    after: int,
    run_id: Optional[str],
    until_end: bool,
    kinds: Sequence[str],
    is_let_in: Callable[[], bool],
) -> AsyncIterator[bytes]:
    services.activity.open_streams += 1
    try:
        with Waiter(services, ["events" if run_id is None else f"run/{run_id}", "people"]) as waiter:
            # A number without an event says where it begins: a reader that is cut off at once knows where to go on.
            yield f": rookery\nid: {after}\n\n".encode("ascii")
            while not services.leaving:
                waiter.clear()
                after, frames, is_over = await run_in_threadpool(_read, services.record, after, run_id, kinds)
                if not is_let_in():
                    return  # their token was revoked: what happens from now on is not for them
                if frames:
                    yield frames
                    continue
                if is_over and until_end:
                    yield _frame("end", after, {"run": run_id})
                    return
                if not await waiter.wait(KEEP_ALIVE_S):
                    yield b": keep-alive\n\n"
    finally:
        services.activity.open_streams -= 1


def _read(record: Record, after: int, run_id: Optional[str], kinds: Sequence[str]) -> tuple[int, bytes, bool]:
    """(the last number, the frames up to it, whether the run is over and that was all)."""
    rows, is_over = record.events.after(after, run_id, PAGE, kinds)
    frames = []
    size = 0
    for row in rows:
        frame = _frame(row["kind"], row["seq"], _log_data(record, row) if row["kind"] == "log" else row["data"])
        frames.append(frame)
        after, size = row["seq"], size + len(frame)
        if size > 1024 * 1024:
            break
    return after, b"".join(frames), is_over


def _log_data(record: Record, row: dict[str, Any]) -> dict[str, Any]:
    data = {"run": row["run_id"], "name": row["name"], "offset": row["start"]}
    try:
        chunk = record.logs.read_stored(row["run_id"], row["name"], row["start"], row["length"])
    except FileNotFoundError:
        chunk = b""  # somebody removed the file; the rest of the story is still true
    try:
        data["text"] = chunk.decode("utf-8")
    except UnicodeDecodeError:
        data["base64"] = base64.b64encode(chunk).decode("ascii")
    return data


def _frame(kind: str, seq: int, data: Any) -> bytes:
    return f"id: {seq}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode("ascii")
