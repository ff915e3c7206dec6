"""Beating while data is on its way: a file of many GB comes in one request, and no other thread of the agent lives yet."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import RookeryError

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["DeliveryStopped", "Progress", "progress_words"]

UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
CLOSER_S = 0.5


class DeliveryStopped(Exception):
    """Nobody wants the data any more: the run was cancelled, or its node is taken away."""


class Progress:
    """Tells the keeper that we live and how far we are; hears of a cancel.

    Promises: its thread has ended when the `with` is left, because ranks are forked after it.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="data", daemon=True)
        self._problem: Optional[BaseException] = None
        self._name, self._done, self._total = "", 0, 0

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._agent.doing = ""

    def begin(self, name: str) -> None:
        """The input that is being brought."""
        self._name, self._done, self._total = name, 0, 0

    def expect(self, total: int) -> None:
        """So many bytes of it have to be fetched."""
        self._total = total
        self.add(0)
        if total:
            self._agent.say(self._agent.doing)

    def add(self, count: int) -> None:
        """So many more of them are here."""
        self._done += count
        if self._total:
            self._agent.doing = f"fetching input '{self._name}': {progress_words(self._done, self._total)}"

    def check(self) -> None:
        """
        Raises:
            Over: the attempt is over.
            DeliveryStopped: the run is to stop.
        """
        if self._problem is not None:
            raise self._problem
        if self._agent.cancel_grace_s is not None or self._agent.wake.terminated:
            raise DeliveryStopped

    def watched(self, file: Any) -> _WatchedFile:
        """The file, to be written to by a download that is counted and can be stopped."""
        return _WatchedFile(file, self)

    def _beat(self) -> None:
        pause_s = min(CLOSER_S, self._agent.job.heartbeat_s)
        while not self._ended.wait(pause_s):
            try:
                self._agent.pulse()  # looks at the clock itself
            except Exception as error:
                self._problem = error  # the main thread's to raise: the attempt is over
                break
        with contextlib.suppress(RookeryError):
            self._agent.keeper.client().close()  # this thread's connection


class _WatchedFile:
    def __init__(self, file: Any, progress: Progress) -> None:
        self._file, self._progress = file, progress

    def write(self, data: bytes) -> int:
        self._progress.check()
        self._progress.add(len(data))
        return int(self._file.write(data))

    def seek(self, place: int) -> int:
        self._progress.add(place - self._file.tell())
        return int(self._file.seek(place))

    def truncate(self) -> int:
        return int(self._file.truncate())


def progress_words(done: int, total: int) -> str:
    """Such as 3.0 of 10.0 GB."""
    for size, name in UNITS:
        if total >= size:
            return f"{min(done, total) / size:.1f} of {total / size:.1f} {name}"
    return f"{min(done, total)} of {total} bytes"
