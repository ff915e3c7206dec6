"""Ending a program with everything it has started, in whatever session that is."""

from __future__ import annotations

import os
import signal

__all__ = ["end_tree"]


def end_tree(pid: int) -> None:
    """SIGKILL to a process and its descendants. They are looked up first: orphans would not be found any more."""
    _signal(pid, signal.SIGSTOP)  # it starts nothing more while we look
    for one in [*_descendants(pid), pid]:
        _signal(one, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as f:
                parent = int(f.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found = list(children.get(pid, ()))
    for one in found:  # grows while we go
        found += children.get(one, ())
    return found


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
