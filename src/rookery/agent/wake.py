"""Waking the main thread: by another thread, by a signal (SIGCHLD, SIGTERM), by a pidfd, or by the clock."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable
from typing import Optional

__all__ = ["Wake"]


class Wake:
    """One place to sleep."""

    def __init__(self) -> None:
        self._r, self._w = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.terminated = False
        self.also: list[int] = []  # descriptors that wake every wait; whoever gave them reads them

    def set(self) -> None:
        try:
            os.write(self._w, b"x")
        except OSError:
            pass  # full: it will wake anyway

    def on_signals(self) -> None:
        """Wake at the death of a child, and at SIGTERM (then `terminated`). Main thread only."""
        signal.set_wakeup_fd(self._w, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminate)

    def wait(self, timeout_s: Optional[float], fds: Iterable[int] = ()) -> None:
        ready, _, _ = select.select([self._r, *self.also, *fds], [], [], timeout_s)
        if self._r in ready:
            try:
                while os.read(self._r, 4096):
                    pass
            except OSError:
                pass

    def _terminate(self, *_: object) -> None:
        self.terminated = True
