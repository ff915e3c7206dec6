"""Shipping what grows: the ranks' logs and the files below ./logs, with byte offsets that the keeper
acknowledges.

A printed line is at the keeper within a few milliseconds, because inotify wakes the shipper; while nothing
is printed it sleeps.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable

from rookery.agent.keeper import Gone, Keeper
from rookery.agent.watch import Watcher
from rookery.errors import ConflictError, RookeryError

__all__ = ["LogShipper", "Stream", "tail"]

PIECE = 1024 * 1024
PAUSE_S = 0.008  # lines printed together travel together
LOOK_AGAIN_S = 30.0


class Stream:
    """One growing file. `base` is where its first byte lies in the stored log (a retry continues the log of
    the try before)."""

    def __init__(self, name: str, path: str, base: int, offset: int = 0) -> None:
        self.name, self.path, self.base, self.offset = name, path, base, offset
        self.refused = False
        self.rewritten = False
        self._digest = hashlib.sha256()
        self._digested = 0
        self._inode = 0

    def pending(self) -> bytes:
        """The next bytes to ship."""
        try:
            with open(self.path, "rb") as f:
                stat = os.fstat(f.fileno())
                if stat.st_size < self.offset or (self._inode and stat.st_ino != self._inode):
                    self.rewritten = True  # it is stored whole at the end, as an artifact
                    return b""
                self._inode = stat.st_ino
                f.seek(self.offset)
                return f.read(PIECE)
        except OSError:
            return b""

    def shipped(self, data: bytes) -> None:
        if self._digested == self.offset:
            self._digest.update(data)
            self._digested += len(data)
        self.offset += len(data)

    def was_rewritten(self) -> bool:
        """Whether the file is no longer what was shipped (written anew, not appended to)."""
        if self.rewritten or self.refused:
            return True
        digest, left = hashlib.sha256(), self._digested
        try:
            with open(self.path, "rb") as f:
                if os.fstat(f.fileno()).st_size != self.offset:
                    return True
                while left:
                    data = f.read(min(left, PIECE))
                    if not data:
                        return True
                    digest.update(data)
                    left -= len(data)
        except OSError:
            return False  # gone: what was shipped is all there is
        return digest.digest() != self._digest.digest()


class LogShipper:
    """One thread that ships all streams.

    Args:
        discover: called at every look; gives new streams and adds what else is to be watched.
    """

    def __init__(self, keeper: Keeper, watcher: Watcher, warn: Callable[[str], None]) -> None:
        self._keeper = keeper
        self._watcher = watcher
        self._warn = warn
        self.streams: dict[str, Stream] = {}
        self.discover: Callable[[], None] = lambda: None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)

    def add(self, stream: Stream) -> None:
        if stream.name not in self.streams:
            self.streams[stream.name] = stream
            self._watcher.add(stream.path)

    def ship_now(self, stream: Stream) -> None:
        """From the caller's thread, before `start`: what happens before the ranks has a log too."""
        self.add(stream)
        self._ship(self.streams[stream.name])

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Ship everything to the end of the files as they are now; returns when it is acknowledged."""
        self._ending.set()
        self._watcher.wake()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                self._ship_all()
                self._watcher.wait(LOOK_AGAIN_S)
                self._ending.wait(PAUSE_S)
            self._ship_all()
            for stream in self.streams.values():
                self._announce(stream)
        except Gone:
            pass

    def _announce(self, stream: Stream) -> None:
        """A log that stayed empty exists all the same: people download it by name."""
        if stream.offset or stream.refused or stream.rewritten:
            return
        try:
            self._keeper.call("POST", "log", {"name": stream.name, "offset": stream.base}, b"")
        except RookeryError as error:
            self._refuse(stream, error)

    def _ship_all(self) -> None:
        self.discover()
        for stream in list(self.streams.values()):
            self._ship(stream)

    def _ship(self, stream: Stream) -> None:
        while not (stream.refused or stream.rewritten):
            data = stream.pending()
            if not data:
                return
            start = stream.base + stream.offset
            try:
                answer = self._keeper.call("POST", "log", {"name": stream.name, "offset": start}, data)
            except ConflictError as error:
                if not self._go_back(stream, error.details.get("offset")):
                    self._refuse(stream, error)
                continue
            except RookeryError as error:
                self._refuse(stream, error)
                return
            stream.shipped(data[: max(0, int(answer["ack"]) - start)] or data)

    def _go_back(self, stream: Stream, stored: object) -> bool:
        """The keeper has another size than we thought: go on from there."""
        if not isinstance(stored, int) or stored < stream.base or stored == stream.base + stream.offset:
            return False
        stream.offset = stored - stream.base
        stream.rewritten = False
        return True

    def _refuse(self, stream: Stream, error: Exception) -> None:
        stream.refused = True
        self._warn(f"The log {stream.name} could not be stored: {error}")


def tail(path: str, size: int = 64 * 1024) -> str:
    """The last bytes of a file as text."""
    try:
        with open(path, "rb") as f:
            end = f.seek(0, os.SEEK_END)
            f.seek(max(0, end - size))
            return f.read().decode("utf-8", "replace")
    except OSError:
        return ""
