"""One request of the spool and its answer, as an ASGI server sees them: bodies are read from files and written to files."""

from __future__ import annotations

import asyncio
import http
import logging
import os
import time
from dataclasses import dataclass
from typing import Any, BinaryIO, Optional
from urllib.parse import unquote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message

from rookery.server.errors import internal_error
from rookery.spec.spool import INLINE_BYTES, AnswerHead, RequestHead, pack

__all__ = ["Exchange", "Files"]

log = logging.getLogger(__name__)

PIECE = 1024 * 1024
KINDS = ("req", "run", "body", "ans", "out", "more", "end", "stop", "part")


@dataclass(frozen=True)
class Files:
    """The folder of one node's share, and how files appear in it. `inode` tells one from another of the same name."""

    folder: str
    inode: int = 0

    def is_same(self, other: Files) -> bool:
        return (self.folder, self.inode) == (other.folder, other.inode)

    def path(self, request: str, kind: str) -> str:
        return os.path.join(self.folder, f"{request}.{kind}")

    def names(self) -> dict[str, list[str]]:
        """By kind, the ids of requests, in their order."""
        found: dict[str, list[str]] = {}
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return {}
        for name in sorted(names):
            request, _, kind = name.rpartition(".")
            found.setdefault(kind, []).append(request)
        return found

    def place(self, request: str, kind: str, data: bytes) -> None:
        partial = self.path(request, "keeping")
        with open(partial, "wb", opener=_private) as f:
            f.write(data)
        os.rename(partial, self.path(request, kind))

    def append(self, request: str, kind: str, data: bytes) -> None:
        """Closed each time: over NFS only that makes it seen."""
        with open(self.path(request, kind), "ab", opener=_private) as f:
            f.write(data)

    def unlink(self, request: str, *kinds: str) -> None:
        for kind in kinds:
            try:
                os.unlink(self.path(request, kind))
            except OSError:
                pass

    def remove(self, request: str) -> None:
        self.unlink(request, *KINDS, "keeping")

    def nudge(self) -> None:
        """As agent.spool.SpoolFolder.nudge: has a network file system read the folder again."""
        try:
            os.utime(self.folder)
        except OSError:
            pass

    def quiet_s(self) -> float:
        """Since when nothing has changed here."""
        newest = 0.0
        try:
            for entry in os.scandir(self.folder):
                newest = max(newest, entry.stat(follow_symlinks=False).st_mtime)
            newest = newest or os.stat(self.folder).st_ctime
        except OSError:
            return 0.0
        return time.time() - newest


class Exchange:
    """Carries one request out. The answer is in the folder when its task is done, unless it was stopped."""

    def __init__(self, files: Files, request: str, head: RequestHead, inline: bytes, app: ASGIApp) -> None:
        self.files, self.request = files, request
        self.task: Optional[asyncio.Task[None]] = None
        self._head, self._inline, self._app = head, inline, app
        self._gone: asyncio.Event  # made in the event loop
        self._source: Optional[BinaryIO] = None
        self._left = head.size
        self._start: dict[str, Any] = {}
        self._small = bytearray()
        self._out: Optional[BinaryIO] = None
        self._size = 0
        self._is_stream = False

    @property
    def is_under_way(self) -> bool:
        return self.task is None or not self.task.done()

    def stop(self) -> None:
        """Nobody wants the answer any more. In the event loop, after `start`."""
        self._gone.set()
        if self.task is not None:
            self.task.cancel()

    def start(self) -> asyncio.Task[None]:
        """In the event loop."""
        self._gone = asyncio.Event()
        self.task = asyncio.get_running_loop().create_task(self._run())
        return self.task

    async def _run(self) -> None:
        try:
            await self._app(self._scope(), self._receive, self._send)
        except asyncio.CancelledError:
            if self._gone.is_set():
                await run_in_threadpool(self.files.remove, self.request)
                return
            # The keeper leaves: a stream is over, anything else is the next keeper's to decide.
            if self._is_stream:
                self.files.place(self.request, "end", b"")
            raise
        except OSError as error:
            log.warning("A request of the spool %s could not be answered: %s", self.files.folder, error)
        except Exception as error:
            failed = internal_error(error)  # as the front answers what nobody caught; this is outside of it
            if self._is_stream:
                await run_in_threadpool(self.files.place, self.request, "end", b"")
                return
            self._start = {"status": failed.status_code, "headers": failed.raw_headers}
            self._small[:], self._size, self._out = failed.body, len(failed.body), None
            await run_in_threadpool(self._finish)
        finally:
            for file in (self._source, self._out):
                if file is not None:
                    file.close()

    def _scope(self) -> dict[str, Any]:
        target = urlsplit(self._head.target)
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self._head.headers]
        given = {name for name, _ in headers}
        if b"content-length" not in given and self._head.size:
            headers.append((b"content-length", str(self._head.size).encode("ascii")))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self._head.method,
            "scheme": "http",
            "path": unquote(target.path),
            "raw_path": target.path.encode("latin-1", "replace"),
            "query_string": target.query.encode("latin-1", "replace"),
            "root_path": "",
            "headers": headers,
            "server": ("spool", None),
            "client": None,
            "state": {},
        }

    async def _receive(self) -> Message:
        if self._left < 0:  # all of it was given: what follows is that the asker goes away
            await self._gone.wait()
            return {"type": "http.disconnect"}
        if not self._head.apart:
            self._left = -1
            return {"type": "http.request", "body": self._inline, "more_body": False}
        data = await run_in_threadpool(self._read)
        self._left -= len(data)
        more = self._left > 0
        if not data and more:
            raise OSError(f"the body {self.files.path(self.request, 'body')} is shorter than its head says")
        if not more:
            self._left = -1
        return {"type": "http.request", "body": data, "more_body": more}

    def _read(self) -> bytes:
        if self._source is None:
            self._source = open(self.files.path(self.request, "body"), "rb")  # noqa: SIM115 - closed by _run
        return self._source.read(min(PIECE, max(0, self._left)))

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = dict(message)
            self._is_stream = any(
                name == b"content-type" and value.startswith(b"text/event-stream") for name, value in message["headers"]
            )
            if self._is_stream:
                await run_in_threadpool(self._place, b"")
        elif message["type"] == "http.response.body":
            data = message.get("body", b"")
            if self._head.method == "HEAD":
                data = b""
            await self._take(data, message.get("more_body", False))

    async def _take(self, data: bytes, more: bool) -> None:
        self._size += len(data)
        if self._is_stream:
            if data:
                await run_in_threadpool(self.files.append, self.request, "out", data)
                # An empty file that is renamed: rings at the reader's, where appending to a file does not.
                await run_in_threadpool(self.files.place, self.request, "more", b"")
            if not more:
                await run_in_threadpool(self.files.place, self.request, "end", b"")
                await run_in_threadpool(self.files.unlink, self.request, "run", "body")
            return
        self._small += data
        if self._out is not None or len(self._small) > INLINE_BYTES:
            await run_in_threadpool(self._spill)
        if not more:
            await run_in_threadpool(self._finish)

    def _spill(self) -> None:
        if self._out is None:
            self._out = open(self.files.path(self.request, "out"), "wb", opener=_private)  # noqa: SIM115 - by _run
        self._out.write(self._small)
        self._small.clear()

    def _finish(self) -> None:
        if self._out is not None:
            self._out.close()
        self._place(bytes(self._small))
        self.files.unlink(self.request, "run", "body")

    def _place(self, inline: bytes) -> None:
        status = self._start["status"]
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self._start["headers"])
        try:
            reason = http.HTTPStatus(status).phrase
        except ValueError:
            reason = ""
        head = AnswerHead(status, reason, headers, self._size, self._out is not None, self._is_stream)
        self.files.place(self.request, "ans", pack(head, inline))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
