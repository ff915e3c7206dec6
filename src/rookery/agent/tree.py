"""Stopping a whole process tree, so that nothing is left behind.

What belongs to an attempt: every descendant of the agent (orphans included, because the agent is their
subreaper) and every process that carries ROOKERY_ATTEMPT_KEY, wherever it has been adopted. The engine uses
the second part after
an agent died.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Optional

from rookery.agent.proc import all_stats, environ_has, is_of_another_machine

__all__ = ["STARTED_BY", "find_attempt", "stop_attempt"]

# A keeper that an agent had to start is its descendant and must survive it: it carries this instead of the
# key.
STARTED_BY = "ROOKERY_STARTED_BY"
KEY = "ROOKERY_ATTEMPT_KEY"
KILL_ROUNDS_S = 5.0


def stop_attempt(
    key: str,
    grace_s: float,
    descendants_of: Optional[int] = None,
    spare: Iterable[int] = (),
    reap: Optional[Callable[[], object]] = None,
    node: Optional[int] = None,
    first: Iterable[int] = (),
) -> list[int]:
    """SIGTERM to everything that belongs to the attempt, SIGKILL after `grace_s` to what is left. Returns
    what would not die.

    Args:
        key: `<run id>/<attempt>`, as in ROOKERY_ATTEMPT_KEY.
        descendants_of: also everything below this process (the agent's own pid).
        spare: never these.
        reap: called while waiting; collects dead children, so that they do not linger as zombies.
        first: as long as one of these lives only they are told.
        node: only processes of this node; others of the attempt may run on the same machine.
    """
    spared = set(spare) | {os.getpid()}
    deadline = time.monotonic() + grace_s
    told: set[int] = set()
    leaders = set(first)
    pause = 0.005
    while True:
        if reap:
            reap()
        left = find_attempt(key, descendants_of, spared, node)
        if not left:
            return []
        if time.monotonic() >= deadline:
            break
        leaders &= set(left)
        for pid in leaders or left:
            if pid not in told:  # processes started meanwhile are told too
                told.add(pid)
                _signal(pid, signal.SIGTERM)
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, 0.1)
    return _kill(key, descendants_of, spared, reap, node)


def find_attempt(
    key: str, descendants_of: Optional[int] = None, spare: Iterable[int] = (), node: Optional[int] = None
) -> list[int]:
    """Pids of living processes of the attempt, zombies left out; none of other machines, where nodes are namespaces of this one."""
    stats = all_stats()
    children: dict[int, list[int]] = {}
    for stat in stats.values():
        children.setdefault(stat.parent, []).append(stat.pid)
    found: set[int] = set()
    if descendants_of is not None:
        _descend(descendants_of, children, found, f"{STARTED_BY}={key}".encode())
    mark = f"{KEY}={key}".encode()
    here = None if node is None else f"ROOKERY_NODE={node}".encode()
    found |= {
        pid
        for pid in stats
        if pid not in found
        and environ_has(pid, mark)
        and (here is None or environ_has(pid, here))
        and not is_of_another_machine(pid)
    }
    found -= set(spare)
    return sorted(pid for pid in found if pid in stats and stats[pid].state not in "ZX")


def _descend(pid: int, children: dict[int, list[int]], found: set[int], not_ours: bytes) -> None:
    for child in children.get(pid, ()):
        if child not in found and not environ_has(child, not_ours):
            found.add(child)
            _descend(child, children, found, not_ours)


def _kill(
    key: str,
    descendants_of: Optional[int],
    spared: set[int],
    reap: Optional[Callable[[], object]],
    node: Optional[int] = None,
) -> list[int]:
    """Again and again, because a process may fork while we look."""
    deadline = time.monotonic() + KILL_ROUNDS_S
    while True:
        left = find_attempt(key, descendants_of, spared, node)
        for pid in left:
            _signal(pid, signal.SIGKILL)
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(0.01)
        if reap:
            reap()


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
