"""Waking up when files change: inotify through ctypes, and plain polling where that cannot be had."""

from __future__ import annotations

import ctypes
import os
import select
import struct

__all__ = ["Watcher"]

IN_MODIFY, IN_CREATE, IN_MOVED_TO, IN_CLOSE_WRITE = 0x2, 0x100, 0x80, 0x8
IN_NONBLOCK, IN_CLOEXEC = 0o4000, 0o2000000
POLL_S = 0.05


class Watcher:
    """Waits for changes of files and folders.

    Promises: no CPU while nothing happens; a change after `add` wakes the next `wait` at once (within POLL_S
    where there is no inotify); `wake` ends a wait from another thread.
    """

    def __init__(self, use_inotify: bool = True) -> None:
        self._wake_r, self._wake_w = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._watched: set[str] = set()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = -1
        if use_inotify:
            try:
                self._fd = self._libc.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)
            except AttributeError:
                pass
        self._polling = self._fd < 0

    def add(self, path: str) -> bool:
        """Watch a file, or a folder and the files directly in it. False when it is not there."""
        if path in self._watched:
            return True
        if not os.path.exists(path):
            return False
        if not self._polling:
            mask = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE
            if self._libc.inotify_add_watch(self._fd, os.fsencode(path), mask) < 0:
                self._polling = True  # out of watches: look ourselves from now on
        self._watched.add(path)
        return True

    def forget(self, path: str) -> None:
        """The folder was removed; one of that name may come again."""
        self._watched.discard(path)

    def wait(self, timeout_s: float) -> bool:
        """True when something changed (or may have), False after the timeout."""
        if self._polling and self._watched:
            timeout_s = min(timeout_s, POLL_S)
        fds = [self._wake_r] + ([self._fd] if self._fd >= 0 else [])
        ready, _, _ = select.select(fds, [], [], timeout_s)
        for fd in ready:
            self._drain(fd)
        return bool(ready) or self._polling

    def wake(self) -> None:
        try:
            os.write(self._wake_w, b"x")
        except OSError:
            pass

    def close(self) -> None:
        for fd in (self._fd, self._wake_r, self._wake_w):
            if fd >= 0:
                os.close(fd)

    def _drain(self, fd: int) -> None:
        while True:
            try:
                if len(os.read(fd, 65536)) < struct.calcsize("iIII"):
                    return
            except OSError:
                return
