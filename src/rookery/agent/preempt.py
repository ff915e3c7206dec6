"""What an agent does about being told to stop: ranks learn of it, and a node that was taken away is reported as lost."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from rookery.agent.proc import Stat, all_stats
from rookery.spec.cause import Cause, CauseKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rookery.agent.agent import Agent
    from rookery.agent.process import RankEnd, Ranks

__all__ = ["Preempt", "announce_stop", "first_to_tell", "let_leave", "preempted_cause", "read_preempt"]

RESUME_EXIT_CODE = 85  # worker/stopping.py
_SHELLS = ("sh", "bash", "dash", "ash", "zsh")
_ADVICE = (
    "Runs on low-priority clusters are tried again by themselves; raise the number with run_config.retries.lost_node or "
    "`rookery run --lost-node-retries N`."
)


@dataclass(frozen=True)
class Preempt:
    """Node `node` ('name') of the run's nodes is taken away; ranks on all of them have `grace_s` to save their work."""

    grace_s: float
    node: int
    name: str


def read_preempt(command: dict[str, Any], own_node: int) -> Preempt:
    """The command of the protocol."""
    node = command.get("node", own_node)
    return Preempt(float(command.get("grace_s") or 0.0), node, str(command.get("name") or f"node {node}"))


def announce_stop(agent: Agent, why: str) -> None:
    """Write each rank's stop file, before anything is signalled: processes that get no signal see it too."""
    for rank in agent.job.ranks:
        path = agent.paths.rank(rank.rank).stop
        try:
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"why": why}, f)
        except OSError as error:  # a full disk: the signal still tells
            agent.say(f"{path} cannot be written: {error}")


def first_to_tell(ranks: Iterable[int]) -> set[int]:
    """Whom to send SIGTERM first: the ranks themselves, and where one is a shell what it runs. Helpers of a rank, like
    loaders of data, are needed to save its work."""
    stats = all_stats()
    todo, found = list(ranks), set()
    while todo:
        pid = todo.pop()
        if pid in found or pid not in stats:
            continue
        found.add(pid)
        if _name(stats[pid]) in _SHELLS:
            todo += [s.pid for s in stats.values() if s.parent == pid]
    return found


def let_leave(ranks: Ranks, grace_s: float) -> float:
    """MPI: tell the ranks, and leave mpirun and its daemons alone until they go by themselves. Whoever of them went first would take
    the ranks of all nodes along, though one may still be saving for all. Returns what is left of the grace."""
    assert ranks.foreign is not None
    deadline = time.monotonic() + grace_s
    told: set[int] = set()
    while ranks.foreign.launchers and time.monotonic() < deadline:
        for pid in first_to_tell(set(ranks.foreign.rank_pids) - told):
            told.add(pid)
            _terminate(pid)
        time.sleep(0.02)
        ranks.reap()
    return max(0.0, deadline - time.monotonic())


def preempted_cause(
    agent: Agent, preempt: Preempt, ends: list[RankEnd], children: Sequence[RankEnd] = ()
) -> Optional[Cause]:
    """Why the node counts as lost; None when its ranks had completed before they were stopped.

    Args:
        children: the ranks that a launcher had started, where there is one.
    """
    if ends and len(ends) == len(agent.job.ranks) and all(end.ok for end in ends):
        return None
    saved = sum(1 for end in children or ends if end.exit_code == RESUME_EXIT_CODE)
    how = (
        f" {saved} of {len(children) or len(agent.job.ranks)} ranks saved their work and asked to be resumed."
        if saved
        else ""
    )
    return Cause(
        CauseKind.PREEMPTED,
        f"Node '{preempt.name}' was preempted.{how}",
        agent.job.attempt,
        preempt.node,
        advice=(_ADVICE,),
    )


def _terminate(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        pass


def _name(stat: Stat) -> str:
    try:
        with open(f"/proc/{stat.pid}/comm", encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""
