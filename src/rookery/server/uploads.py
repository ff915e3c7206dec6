"""Request bodies: as bytes for a handler that parses them in its thread, or streamed into the content store."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import IO, Annotated, Any, Optional

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool

from rookery.data.packs import PackWriter
from rookery.errors import UserError
from rookery.record.content import Content, ContentWriter, check_sha256
from rookery.record.partials import Partials, PartialWriter

__all__ = [
    "Body",
    "parse_object",
    "receive_content",
    "receive_into",
    "receive_pack",
    "receive_part",
    "receive_to_file",
]

PIECE = 1024 * 1024
ENTER_FILES = 2000
_HEAD = 64 + 16


async def _body(request: Request) -> bytes:
    return await request.body()


# Read in the loop, parsed by the handler in its thread: a large JSON body must not hold up everybody else.
Body = Annotated[bytes, Depends(_body)]


def parse_object(body: bytes, *required: str) -> dict[str, Any]:
    """A JSON object that has these fields, or UserError."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UserError(f"The body is not valid JSON: {error}.") from None
    if not isinstance(data, dict):
        raise UserError(f"The body must be a JSON object, not {type(data).__name__}.")
    missing = [name for name in required if name not in data]
    if missing:
        raise UserError(f"The body lacks {', '.join(missing)}.")
    return data


def parse_as(model: type[BaseModel], body: bytes) -> dict[str, Any]:
    """A JSON object of this form, as it was given, or the same refusal that FastAPI's own bodies get."""
    data = parse_object(body)
    try:
        model.model_validate(data)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None
    return data


async def receive_content(request: Request, content: Content, expected: Optional[str]) -> tuple[str, int]:
    """Streams the body to disk, hashing it; returns (sha256, size)."""
    if expected is not None:
        check_sha256(expected)
    writer = await run_in_threadpool(content.writer)
    try:
        buffer = bytearray()
        async for piece in request.stream():
            buffer += piece
            if len(buffer) >= PIECE:
                await run_in_threadpool(writer.write, bytes(buffer))
                buffer.clear()
        return await run_in_threadpool(_finish, writer, bytes(buffer), expected)
    finally:
        await run_in_threadpool(writer.abort)


async def receive_part(request: Request, partials: Partials, sha256: str, offset: int, total: int) -> dict[str, Any]:
    """Streams the body to where an unfinished upload stands. What has arrived stays, also when the connection breaks."""
    writer = await run_in_threadpool(partials.open, sha256, offset, total)
    buffer = bytearray()
    stored = False
    try:
        async for piece in request.stream():
            buffer += piece
            if len(buffer) >= PIECE:
                await run_in_threadpool(writer.write, bytes(buffer))
                buffer.clear()
    finally:
        stored = await run_in_threadpool(_finish_part, partials, writer, bytes(buffer))
    return {"stored": stored, "offset": writer.at}


async def receive_pack(request: Request, content: Content) -> int:
    """Many files in one body: `<64 hex><16 hex length><bytes>` again and again. Returns how many."""
    unpacker = _Unpacker(content)
    try:
        buffer = bytearray()
        async for piece in request.stream():
            buffer += piece
            if len(buffer) >= PIECE:
                await run_in_threadpool(unpacker.feed, bytes(buffer))
                buffer.clear()
        return await run_in_threadpool(unpacker.finish, bytes(buffer))
    finally:
        await run_in_threadpool(unpacker.close)


async def receive_into(request: Request, begin: Callable[[], PackWriter]) -> dict[str, int]:
    """Streams a pack of data to a datastore (`data.packs`); `begin` opens it in a thread."""
    writer = await run_in_threadpool(begin)
    try:
        buffer = bytearray()
        async for piece in request.stream():
            buffer += piece
            if len(buffer) >= PIECE:
                await run_in_threadpool(writer.feed, bytes(buffer))
                buffer.clear()
        return await run_in_threadpool(writer.finish, bytes(buffer))
    finally:
        await run_in_threadpool(writer.close)


async def receive_to_file(request: Request, file: IO[bytes], limit: int) -> int:
    """Streams the body into a file of ours; how many bytes came."""
    size = 0
    buffer = bytearray()
    async for piece in request.stream():
        buffer += piece
        size += len(piece)
        if size > limit:
            raise UserError(f"The body has more than {limit} bytes. It is refused.")
        if len(buffer) >= PIECE:
            await run_in_threadpool(file.write, bytes(buffer))
            buffer.clear()
    await run_in_threadpool(file.write, bytes(buffer))
    file.seek(0)
    return size


def _finish(writer: ContentWriter, rest: bytes, expected: Optional[str]) -> tuple[str, int]:
    if rest:
        writer.write(rest)
    return writer.commit(expected)


def _finish_part(partials: Partials, writer: PartialWriter, rest: bytes) -> bool:
    try:
        if rest:
            writer.write(rest)
    finally:
        stored = partials.finish(writer)
    return stored


class _Unpacker:
    def __init__(self, content: Content) -> None:
        self._content = content
        self._pending = bytearray()
        self._writer: Optional[ContentWriter] = None
        self._sha256 = ""
        self._left = 0
        self._files = 0
        self._moved: list[tuple[str, int]] = []

    def feed(self, data: bytes) -> None:
        self._pending += data
        at = 0
        while True:
            if self._writer is None:
                if len(self._pending) - at < _HEAD:
                    break
                self._begin(bytes(self._pending[at : at + _HEAD]))
                at += _HEAD
            assert self._writer is not None
            piece = self._pending[at : at + self._left]
            if piece:
                self._writer.write(bytes(piece))
            at += len(piece)
            self._left -= len(piece)
            if self._left:
                break
            self._moved.append(self._writer.commit(self._sha256, enter=False))
            self._writer = None
            self._files += 1
        del self._pending[:at]
        if len(self._moved) >= ENTER_FILES:
            self._enter()

    def finish(self, data: bytes) -> int:
        self.feed(data)
        self._enter()
        if self._writer is not None or self._pending:
            raise UserError("The pack ends in the middle of a file.")
        return self._files

    def close(self) -> None:
        if self._writer is not None:
            self._writer.abort()

    def _enter(self) -> None:
        self._content.enter(self._moved)
        self._moved.clear()

    def _begin(self, head: bytes) -> None:
        try:
            text = head.decode("ascii")
            self._sha256, self._left = check_sha256(text[:64]), int(text[64:], 16)
        except ValueError:
            raise UserError(
                "The pack is damaged: a file starts with 64 hexadecimal digits of hash and 16 of length."
            ) from None
        self._writer = self._content.writer()
