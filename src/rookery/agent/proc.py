"""Facts about processes, from /proc. Nothing here raises for a process that is gone."""

from __future__ import annotations

import os
from typing import Optional

__all__ = [
    "Stat",
    "all_stats",
    "command_line",
    "environ_has",
    "is_of_another_machine",
    "is_same_process",
    "read_stat",
    "start_ticks",
    "zombie_status",
]

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Stat:
    """One line of /proc/<pid>/stat, as far as we need it."""

    __slots__ = ("cpu_ticks", "parent", "pid", "rss_bytes", "start_ticks", "state")

    def __init__(self, pid: int, text: bytes) -> None:
        fields = text[text.rindex(b")") + 2 :].split()  # the name before it may hold anything
        self.pid = pid
        self.state = fields[0].decode("ascii")
        self.parent = int(fields[1])
        self.cpu_ticks = int(fields[11]) + int(fields[12])
        self.start_ticks = int(fields[19])
        self.rss_bytes = int(fields[21]) * PAGE_BYTES


def read_stat(pid: int) -> Optional[Stat]:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as f:
            return Stat(pid, f.read(4096))
    except (OSError, ValueError):
        return None


def start_ticks(pid: int) -> int:
    """Field 22 of /proc/<pid>/stat, 0 when there is no such process."""
    stat = read_stat(pid)
    return stat.start_ticks if stat else 0


def is_same_process(pid: int, ticks: int) -> bool:
    """Whether `pid` is alive (not a zombie) and still the process that started at `ticks`."""
    stat = read_stat(pid)
    return stat is not None and stat.state not in "ZX" and (not ticks or stat.start_ticks == ticks)


def all_stats() -> dict[int, Stat]:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = read_stat(int(name))
            if stat is not None:
                found[stat.pid] = stat
    return found


def command_line(pid: int) -> list[str]:
    """The words it was started with; none for a process that is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as f:
            return f.readall().decode("utf-8", "surrogateescape").split("\0")[:-1]
    except OSError:
        return []


def zombie_status(pid: int) -> int:
    """How a process ended that nobody has waited for yet, as waitpid will tell it; 0 also when that cannot be seen."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as f:
            fields = f.read(4096).rsplit(b")", 1)[1].split()
        return int(fields[49]) if fields[0] == b"Z" else 0
    except (OSError, ValueError, IndexError):
        return 0


def environ_has(pid: int, assignment: bytes) -> bool:
    """Whether the process was started with the variable `NAME=value`."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as f:
            data = f.readall()
    except OSError:
        return False
    return assignment in data.split(b"\0")


def is_of_another_machine(pid: int) -> bool:
    """Whether a process is only seen from here: a node that is a container or a namespace of this machine shares our /proc.

    It has process numbers and a network of its own. One of the two alone is no sign: ranks in containers share our process
    numbers, and programs that fence themselves in share our network. What cannot be told counts as ours.
    """
    return all(_namespace(pid, kind) not in ("", _namespace("self", kind)) for kind in ("pid", "net"))


def _namespace(pid: object, kind: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return ""
