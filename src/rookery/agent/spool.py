"""HTTP as files: how an agent asks a keeper that it cannot reach over the network but shares files with (spec/spool.py).

`SpoolConnection` has the methods of http.client.HTTPConnection that HttpClient and the relay use, so that everything
above it is the same.
"""

from __future__ import annotations

import http.client
import itertools
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Optional, Union, cast

from rookery.spec.spool import INLINE_BYTES, AnswerHead, RequestHead, pack, unpack
from rookery.worker.doorbell import Doorbell

__all__ = ["SpoolConnection", "SpoolFolder", "SpoolResponse"]

PIECE = 1024 * 1024
FIRST_PAUSE_S, LAST_PAUSE_S = 0.002, 0.5
SILENCE_S = 60.0  # without any sign of life of the keeper


class SpoolFolder:
    """The folder of one node's share. One per process; connections are made of it.

    Promises: any number of requests at a time, from any threads; no thread of its own and no busy waiting (inotify where
    it works, and a look of one's own every half second at least: what other machines write is told by nobody).
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._session = secrets.token_hex(6)  # an agent that comes after us never gets our answers
        self._numbers = itertools.count(1)
        self._turn = threading.Condition()
        self._bell: Optional[Doorbell] = None
        self._is_heard = False
        self.rings = 0

    def connection(self, timeout: float = SILENCE_S) -> SpoolConnection:
        return SpoolConnection(self, min(timeout, SILENCE_S))

    def make(self) -> None:
        os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)

    def new_id(self) -> str:
        return f"{self._session}-{next(self._numbers):08d}"

    def path(self, request: str, kind: str) -> str:
        return os.path.join(self.folder, f"{request}.{kind}")

    def place(self, request: str, kind: str, data: bytes) -> None:
        """A file that is there whole or not at all. The folder is made (again) where it is missing."""
        partial = self.path(request, "part")
        for is_last in (False, True):
            try:
                with open(partial, "wb", opener=_private) as f:
                    f.write(data)
                os.rename(partial, self.path(request, kind))
                return
            except FileNotFoundError:
                if is_last:
                    raise
                self.make()
            except OSError:
                _unlink(partial)
                raise

    def wait(self, timeout_s: float, rings: int) -> None:
        """Until something appears in the folder, or the time is over. One of those who wait listens for all.

        rings: what `rings` was before the caller looked; what appeared since then is not waited for.
        """
        with self._turn:
            if self.rings != rings:
                return
            if self._is_heard:
                self._turn.wait(timeout_s)
                return
            self._is_heard = True
            if self._bell is None:
                self._bell = Doorbell()
            self._bell.add(self.folder)  # again each time: the folder may be another one by now
        rang = False
        try:
            rang = bool(self._bell.wait(timeout_s))
        finally:
            with self._turn:
                self.rings += rang
                self._is_heard = False
                self._turn.notify_all()

    def nudge(self) -> None:
        """Over NFS a folder that only others change is remembered as it was; changing it ourselves has it read again."""
        try:
            os.utime(self.folder)
        except OSError:
            pass


class SpoolConnection:
    """As http.client.HTTPConnection. Raises OSError where no keeper gives a sign of life within `timeout`."""

    def __init__(self, spool: SpoolFolder, timeout: float) -> None:
        self._spool, self.timeout = spool, timeout
        self._id = ""
        self._head: dict[str, Any] = {}
        self._body = _Body(spool)
        self._response: Optional[SpoolResponse] = None

    def connect(self) -> None:
        self._spool.make()

    def request(
        self,
        method: str,
        target: str,
        body: Union[bytes, BinaryIO, None] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        self.putrequest(method, target)
        for name, value in (headers or {}).items():
            self.putheader(name, value)
        self.endheaders()
        if body is not None and not isinstance(body, (bytes, bytearray)):
            for piece in iter(lambda: body.read(PIECE), b""):
                self.send(piece)
        elif body:
            self.send(body)

    def putrequest(self, method: str, target: str, skip_accept_encoding: bool = False) -> None:
        self.close()
        self._id = self._spool.new_id()
        self._head = {"method": method, "target": target, "headers": []}
        self._body = _Body(self._spool, self._id)

    def putheader(self, name: str, value: str) -> None:
        self._head["headers"].append((name, str(value)))

    def endheaders(self) -> None:
        pass  # the head is written last: it says that the request is whole

    def send(self, data: bytes) -> None:
        self._body.write(data)

    def getresponse(self) -> SpoolResponse:
        """Hands the request over and waits for its answer."""
        head = RequestHead(
            self._head["method"], self._head["target"], tuple(self._head["headers"]), self._body.size, self._body.apart
        )
        self._spool.place(self._id, "req", pack(head, self._body.finish()))
        try:
            answer, inline = self._await_answer()
        except BaseException:
            self.close()
            raise
        self._response = SpoolResponse(self._spool, self._id, answer, inline, head.method, self.timeout)
        return self._response

    def close(self) -> None:
        """What was not answered is taken back, or not wanted any more where the keeper has begun with it."""
        request, self._id = self._id, ""
        response, self._response = self._response, None
        if response is not None:
            response.close()
        elif request:
            self._body.finish()
            if os.path.exists(self._spool.path(request, "run")) and not _unlink(self._spool.path(request, "req")):
                _stop(self._spool, request)
            else:
                for kind in ("req", "body", "ans"):
                    _unlink(self._spool.path(request, kind))

    def _await_answer(self) -> tuple[AnswerHead, bytes]:
        path, pulse = self._spool.path(self._id, "ans"), _Pulse(self._spool.path(self._id, "run"), self.timeout)
        pause = FIRST_PAUSE_S
        while True:
            rings = self._spool.rings
            try:
                with open(path, "rb") as f:
                    head, inline = unpack(AnswerHead, f.read())
                return cast(AnswerHead, head), inline
            except FileNotFoundError:
                pass
            except ValueError as error:
                raise http.client.HTTPException(f"an answer in the spool cannot be read: {error}") from None
            if not pulse.beats():
                raise TimeoutError(f"no keeper has answered in {self._spool.folder} for {self.timeout:g} s")
            self._spool.wait(pause, rings)
            pause = min(pause * 1.5, LAST_PAUSE_S)
            if pause == LAST_PAUSE_S:
                self._spool.nudge()


class SpoolResponse:
    """As http.client.HTTPResponse. Its files go when it has been read to the end, or is closed."""

    def __init__(
        self, spool: SpoolFolder, request: str, head: AnswerHead, inline: bytes, method: str, timeout: float
    ) -> None:
        self._spool, self._id, self._head = spool, request, head
        self.status, self.reason = head.status, head.reason
        self._inline = inline
        self._at = 0
        self._timeout = timeout
        self._is_over = False
        self._file: Optional[BinaryIO] = None
        if head.apart and not head.stream:
            self._file = open(spool.path(request, "out"), "rb")  # noqa: SIM115 - closed by close
        if not head.stream:
            self._drop()  # it is ours now; a keeper that comes after must not find anything left to do

    def getheader(self, name: str, default: Optional[str] = None) -> Optional[str]:
        return next((value for key, value in self._head.headers if key.lower() == name.lower()), default)

    def getheaders(self) -> list[tuple[str, str]]:
        return list(self._head.headers)

    def read(self, size: Optional[int] = None) -> bytes:
        if self._head.stream:
            if size is not None:
                return self.read1(size)
            return b"".join(iter(lambda: self.read1(PIECE), b""))
        if self._is_over:
            return b""
        if self._file is not None:
            data = self._file.read(size if size is not None else -1)
        else:
            data = self._inline[self._at :] if size is None else self._inline[self._at : self._at + size]
        self._at += len(data)
        if self._at >= self._head.size or not data:
            self.close()
        return data

    def read1(self, size: int = PIECE) -> bytes:
        """What there is by now; of a stream at least a byte, or nothing when it is over."""
        if not self._head.stream:
            return self.read(size)
        pulse, pause = _Pulse(self._spool.path(self._id, "run"), self._timeout), FIRST_PAUSE_S
        while not self._is_over:
            rings = self._spool.rings
            is_ended = os.path.exists(self._spool.path(self._id, "end"))
            data = self._grown(size)
            if data:
                return data
            if is_ended or not pulse.beats():
                self.close()
                break
            self._spool.wait(pause, rings)
            pause = min(pause * 1.5, LAST_PAUSE_S)
            if pause == LAST_PAUSE_S:
                self._spool.nudge()
        return b""

    def close(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._file is not None:
            self._file.close()
        if self._head.stream and not os.path.exists(self._spool.path(self._id, "end")):
            _stop(self._spool, self._id)  # the keeper removes what is left
        else:
            self._drop()

    def _grown(self, size: int) -> bytes:
        """Opened anew each time: over NFS only that tells how long a file is that others write."""
        try:
            with open(self._spool.path(self._id, "out"), "rb") as f:
                f.seek(self._at)
                data = f.read(size)
        except FileNotFoundError:
            return b""
        self._at += len(data)
        return data

    def _drop(self) -> None:
        for kind in ("run", "body", "ans", "out", "more", "end"):
            _unlink(self._spool.path(self._id, kind))


class _Body:
    """A request's body: in memory while it is small, then in a file of its own."""

    def __init__(self, spool: SpoolFolder, request: str = "") -> None:
        self._path = spool.path(request, "body") if request else ""
        self._make: Callable[[], None] = spool.make
        self._small = bytearray()
        self._file: Optional[BinaryIO] = None
        self.size = 0
        self.apart = False

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self._file is None:
            self._small += data
            if len(self._small) <= INLINE_BYTES:
                return
            self._make()
            self._file = open(self._path, "wb", opener=_private)  # noqa: SIM115 - closed by finish
            self.apart, data = True, bytes(self._small)
            self._small.clear()
        self._file.write(data)

    def finish(self) -> bytes:
        """What goes beside the head."""
        if self._file is not None:
            self._file.close()
            self._file = None
        return bytes(self._small)


class _Pulse:
    """Whether somebody is at work on a request: its `.run` is touched every few seconds while it is carried out."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._last: Optional[int] = None
        self._since = time.monotonic()

    def beats(self) -> bool:
        try:
            now: Optional[int] = os.stat(self._path).st_mtime_ns
        except OSError:
            now = None
        if now != self._last:
            self._last, self._since = now, time.monotonic()
        return time.monotonic() - self._since < self._timeout


def _stop(spool: SpoolFolder, request: str) -> None:
    try:
        spool.place(request, "stop", b"")
    except OSError:
        pass


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
        return True
    except OSError:
        return False


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
