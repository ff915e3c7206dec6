"""One builder at a time, over threads and processes, and over the death of any of them.

The lock is flock(2) on a file that is never removed. The programs that a builder starts inherit it: if the
builder is killed, its
uv still holds the lock, so nobody builds into the same folder beside it. Whoever waits ends such an orphan.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator

from rookery.environments.building.folders import lock_path
from rookery.errors import EnvironmentBuildError

__all__ = ["BuildLock", "hold_lock", "start_ticks"]

POLL_S = 0.05


class BuildLock:
    """A held lock. `started` notes the program that works under it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def started(self, pid: int) -> None:
        self._write(
            {
                "builder": os.getpid(),
                "builder_ticks": start_ticks(os.getpid()),
                "program": pid,
                "program_ticks": start_ticks(pid),
            }
        )

    def clear(self) -> None:
        self._write({})

    def _write(self, value: dict[str, int]) -> None:
        data = json.dumps(value).encode()
        os.pwrite(self.fd, data, 0)
        os.ftruncate(self.fd, len(data))


@contextlib.contextmanager
def hold_lock(name: str, deadline: float, waiting: Callable[[], None] | None = None) -> Iterator[BuildLock]:
    """Hold the lock of a key or a request.

    Args:
        deadline: time.monotonic() after which waiting ends.
        waiting: called at every look while somebody else holds it.

    Raises:
        EnvironmentBuildError: it was not to be had in time.
    """
    path = lock_path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        looks = 0
        while not _try(fd):
            if waiting is not None:
                waiting()
            if looks % 10 == 0:
                _end_orphan(fd)
            if time.monotonic() > deadline:
                raise EnvironmentBuildError(
                    "Another process has been building this environment for longer than "
                    f"environment_build_timeout_s allows (lock {path}). See `rookery env list`."
                )
            looks += 1
            time.sleep(POLL_S)
        held = BuildLock(fd)
        try:
            yield held
        finally:
            held.clear()
    finally:
        os.close(fd)


def start_ticks(pid: int) -> int:
    """When a process started (field 22 of /proc/<pid>/stat); -1 for one that is gone or a zombie. Tells a
    reused pid apart.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
    except OSError:
        return -1
    return -1 if fields[0] == b"Z" else int(fields[19])


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def _end_orphan(fd: int) -> None:
    """Kill the program of a builder that is dead itself: nobody will ever use what it makes."""
    try:
        noted = json.loads(os.pread(fd, 4096, 0) or b"{}")
        builder, program = noted["builder"], noted["program"]
        if start_ticks(builder) != noted["builder_ticks"] and start_ticks(program) == noted["program_ticks"] != -1:
            os.killpg(program, signal.SIGKILL)
    except (ValueError, KeyError, TypeError, OSError):
        return
