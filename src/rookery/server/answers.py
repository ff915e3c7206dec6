"""Answers: JSON as Python writes it (NaN and infinities included), and raw bytes with ranges."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Optional

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

__all__ = ["JsonAnswer", "answer", "raw_answer", "stream_answer"]

CHUNK = 256 * 1024
_RANGE = re.compile(r"bytes=(\d*)-(\d*)\Z")


class JsonAnswer(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode("ascii")


def answer(content: Any, status: int = 200, headers: Optional[dict[str, str]] = None) -> JsonAnswer:
    """JSON as it is, without a walk over every value."""
    return JsonAnswer(content, status, headers)


def raw_answer(
    open_file: Callable[[], BinaryIO],
    size: int,
    range_header: Optional[str] = None,
    headers: Optional[dict[str, str]] = None,
) -> Response:
    """The bytes of a file, or the part that a `Range` header asks for, never all in memory."""
    wanted = _parse_range(range_header, size)
    start, end = wanted or (0, size)
    all_headers = {
        "Content-Length": str(end - start),
        "Accept-Ranges": "bytes",
        # The bytes come from user code: a browser must not take them for a page of ours.
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": "attachment",
        **(headers or {}),
    }
    if wanted is not None:
        all_headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    file = open_file()
    return _FileAnswer(
        file,
        _chunks(file, start, end - start),
        status_code=200 if wanted is None else 206,
        headers=all_headers,
        media_type="application/octet-stream",
    )


def stream_answer(parts: Iterator[bytes], media_type: str, headers: dict[str, str]) -> Response:
    """What is made while it is sent."""
    return _PartsAnswer(parts, media_type=media_type, headers=headers)


class _PartsAnswer(StreamingResponse):
    """Ends its generator whatever happens, so that the files it has open are closed when a reader goes away half way."""

    def __init__(self, parts: Iterator[bytes], **more: Any) -> None:
        super().__init__(parts, **more)
        self._parts = parts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await run_in_threadpool(getattr(self._parts, "close", lambda: None))


class _FileAnswer(StreamingResponse):
    """Closes its file whatever happens: a reader that goes away half way leaves the pieces unread."""

    def __init__(self, file: BinaryIO, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._file = file

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.__exit__(None, None, None)


def _chunks(file: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        while length > 0:
            chunk = file.read(min(CHUNK, length))
            if not chunk:
                raise OSError("a stored file is shorter than recorded")
            length -= len(chunk)
            yield chunk


def _parse_range(header: Optional[str], size: int) -> Optional[tuple[int, int]]:
    """(start, end) of a single range; None for no header, and for several ranges, which may be answered in full."""
    if not header or "," in header:
        return None
    found = _RANGE.match(header.strip())
    if not found or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if first == "":
        return (max(0, size - int(last)), size)
    start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= size or end <= start:
        raise HTTPException(416, f"Range {header!r:.60} is not within the {size} bytes.")
    return start, end
