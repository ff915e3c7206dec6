"""One thread that notices the end of any number of processes at once, ours or not."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from rookery.engine.processes import is_running

__all__ = ["DeathWatch"]

POLL_S = 0.2  # only where pidfd is missing


@dataclass(frozen=True)
class _Watched:
    pid: int
    ticks: int
    fd: int  # -1: no pidfd, looked at every POLL_S
    key: Any


class DeathWatch:
    """Watches processes by pidfd (by polling where that is missing) and tells of each end once.

    `on_death(key, exit_code, signal name)` is called in the watching thread; both are None when the process
    was not our child.
    """

    def __init__(self, on_death: Callable[[Any, Optional[int], Optional[str]], None]) -> None:
        self._on_death = on_death
        self._lock = threading.Lock()
        self._watched: dict[Any, _Watched] = {}
        self._stopping = False
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._thread = threading.Thread(target=self._run, name="rookery-deathwatch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Watch no more. Returns when no callback is under way (unless called from one)."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
        self._wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        with self._lock:
            for watched in self._watched.values():
                _close(watched.fd)
            self._watched.clear()
            os.close(self._wake_read)
            os.close(self._wake_write)

    def watch(self, key: Any, pid: int, ticks: int) -> None:
        """Watch a process under a key; one that is dead already is told like any other."""
        try:
            fd = os.pidfd_open(pid)
        except (AttributeError, OSError):
            fd = -1
        if fd >= 0 and ticks and not is_running(pid, ticks) and not _is_our_zombie(pid):
            _close(fd)  # the number belongs to another process by now: polling finds "not running" at once
            fd = -1
        with self._lock:
            if self._stopping:
                _close(fd)
                return
            old = self._watched.get(key)
            self._watched[key] = _Watched(pid, ticks, fd, key)
            if old:
                _close(old.fd)
        self._wake()

    def forget(self, key: Any) -> None:
        with self._lock:
            watched = self._watched.pop(key, None)
        if watched:
            _close(watched.fd)
            self._wake()

    def process(self, key: Any) -> Optional[tuple[int, int]]:
        """pid and start ticks of what is watched under a key."""
        with self._lock:
            watched = self._watched.get(key)
            return (watched.pid, watched.ticks) if watched else None

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: it wakes anyway; closed: it has stopped
            os.write(self._wake_write, b"!")

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._stopping:
                    return
                watched = list(self._watched.values())
            for one in self._wait(watched):
                code = _reap(one.pid)
                with self._lock:
                    if self._stopping or self._watched.get(one.key) is not one:
                        continue
                    del self._watched[one.key]
                _close(one.fd)
                self._on_death(one.key, *code)

    def _wait(self, watched: list[_Watched]) -> list[_Watched]:
        poller = select.poll()
        poller.register(self._wake_read, select.POLLIN)
        by_fd = {}
        for one in watched:
            if one.fd >= 0:
                poller.register(one.fd, select.POLLIN)
                by_fd[one.fd] = one
        plain = [one for one in watched if one.fd < 0]
        ready = poller.poll(POLL_S * 1000 if plain else None)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)
        dead = [by_fd[fd] for fd, events in ready if fd in by_fd and events & (select.POLLIN | select.POLLHUP)]
        return dead + [one for one in plain if not is_running(one.pid, one.ticks)]


def _reap(pid: int) -> tuple[Optional[int], Optional[str]]:
    """The exit code or signal of a child of ours; (None, None) of anybody else's."""
    try:
        reaped, status = os.waitpid(pid, os.WNOHANG)
    except (ChildProcessError, OSError):
        return None, None
    if reaped == 0:
        return None, None
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code, None
    try:
        return None, signal.Signals(-code).name
    except ValueError:
        return None, f"signal {-code}"


def _is_our_zombie(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except (ChildProcessError, OSError):
        return False


def _close(fd: int) -> None:
    if fd >= 0:
        with contextlib.suppress(OSError):
            os.close(fd)
