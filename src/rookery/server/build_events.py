"""Server-sent events of an environment build. Numbers are byte offsets of its log, so that a reader comes back to where it was."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from rookery.record.builds import ENDED
from rookery.server.services import Services, Waiter

__all__ = ["build_stream"]

KEEP_ALIVE_S = 15.0
PIECE = 256 * 1024


def build_stream(services: Services, build_id: str, after: int) -> StreamingResponse:
    """`log` for every piece after the offset `after`, `status` when the build is over, and `end`."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_frames(services, build_id, after), headers=headers, media_type="text/event-stream")


async def _frames(services: Services, build_id: str, after: int) -> AsyncIterator[bytes]:
    services.activity.open_streams += 1
    try:
        with Waiter(services, [f"build/{build_id}"]) as waiter:
            yield b": rookery\n\n"
            while not services.leaving:
                waiter.clear()
                # The build first: a log that is read after its end is whole.
                build = await run_in_threadpool(services.record.builds.get, build_id)
                data = await run_in_threadpool(services.record.builds.read_log, build_id, after, PIECE)
                if data:
                    yield _log_frame(build_id, after, data)
                    after += len(data)
                    continue
                if build["status"] in ENDED:
                    told = {key: build[key] for key in ("id", "status", "error", "built", "ended_utc")}
                    yield _frame("status", after + 1, told) + _frame("end", after + 1, {"build": build_id})
                    return
                if not await waiter.wait(KEEP_ALIVE_S):
                    yield b": keep-alive\n\n"
    finally:
        services.activity.open_streams -= 1


def _log_frame(build_id: str, offset: int, data: bytes) -> bytes:
    told: dict[str, Any] = {"build": build_id, "offset": offset}
    try:
        told["text"] = data.decode("utf-8")
    except UnicodeDecodeError:
        told["base64"] = base64.b64encode(data).decode("ascii")
    return _frame("log", offset + len(data), told)


def _frame(kind: str, number: int, data: Any) -> bytes:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode("ascii")
