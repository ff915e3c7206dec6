"""Looking at processes through /proc: who is alive, who carries a mark. Linux; elsewhere the answers are
careful ones."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Optional

__all__ = [
    "all_pids",
    "command_line",
    "environment_of",
    "is_of_another_machine",
    "is_of_this_machine",
    "is_running",
    "kill_process",
    "start_ticks",
]


def start_ticks(pid: int) -> Optional[int]:
    """Field 22 of /proc/<pid>/stat, which tells a reused pid apart. None: no such process, or it is a
    zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            text = f.read()
    except OSError:
        return None
    fields = text[text.rfind(b")") + 2 :].split()  # the name before it may hold anything
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return int(fields[19])


def is_running(pid: int, ticks: int) -> bool:
    """Whether this very process runs. ticks 0: not known, any process of that number counts."""
    now = start_ticks(pid)
    return now is not None and (not ticks or now == ticks)


def kill_process(pid: int, ticks: int, number: int = signal.SIGKILL) -> bool:
    """Signal this very process; False when it is gone. The pidfd closes the gap between looking and
    signalling."""
    if pid <= 1 or pid == os.getpid():
        return False
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        fd = -1
    try:
        if not is_running(pid, ticks):
            return False
        if fd >= 0:
            signal.pidfd_send_signal(fd, number)
        else:
            os.kill(pid, number)
        return True
    except OSError:
        return False
    finally:
        if fd >= 0:
            os.close(fd)


def all_pids() -> Iterator[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit():
            yield int(name)


def is_of_this_machine(pid: int) -> bool:
    """False for what runs in another pid namespace: a container's process, or that of a node which a test has made of this
    machine. They are seen in /proc, and their agents are not ours."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid")
    except OSError:
        return True


def is_of_another_machine(pid: int) -> bool:
    """Whether a marked process is that of a node which is a namespace of this machine: with process numbers and a network of
    its own. One of the two alone is no sign (see agent/proc.py)."""
    try:
        return all(os.readlink(f"/proc/{pid}/ns/{k}") != os.readlink(f"/proc/self/ns/{k}") for k in ("pid", "net"))
    except OSError:
        return False


def command_line(pid: int) -> tuple[str, ...]:
    return tuple(os.fsdecode(part) for part in _read(f"/proc/{pid}/cmdline").split(b"\0")[:-1])


def environment_of(pid: int) -> frozenset[bytes]:
    """The `NAME=value` strings that a process was started with; empty when it is gone or somebody else's."""
    return frozenset(_read(f"/proc/{pid}/environ").split(b"\0"))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""
