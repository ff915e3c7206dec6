"""Noticing that a run stands still, and keeping what its ranks were doing then.

What counts as movement of a rank: its log or a journal grew, it asked the keeper something, or its processes used CPU or a GPU. Using
CPU is no proof: MPI and NCCL spin while they wait. So a rank is *still* when it wrote nothing and either used next to no CPU and GPU, or
sat in the same line of the same collective at every look. A rank that is busy outside of a collective may be silent for ever: it
computes. Only when every rank on every node has been still for `stall_timeout_s` the run is stalled. Stacks are looked at
only after half of that time without a word, so a run that prints is never touched.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Optional

from rookery.agent.logs import Stream
from rookery.agent.proc import TICKS_PER_S, Stat, all_stats
from rookery.agent.stacks import Dump, take_stacks
from rookery.agent.stall_frames import RankStack, collective_of, explain_stall, main_thread
from rookery.spec.cause import Cause

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["StallWatch"]

BUSY_CPU = 0.02  # of one core, by the rank's processes together
BUSY_GPU_PERCENT = 5.0


class StallWatch:
    """A thread that looks now and then. `stalled` is set when this node's ranks and all others' have been still for too long."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.timeout_s = _timeout_s(agent)
        self._every_s = min(max(self.timeout_s / 10, 0.1), 15.0)
        self._many_nodes = agent.job.world_size > len([r for r in agent.job.ranks if r.rank < agent.job.world_size])
        now = time.monotonic()
        self._wrote = now  # when anything was written last
        self._moved = {rank.rank: now for rank in agent.job.ranks}
        self._sizes: dict[int, int] = {}
        self._ticks: dict[int, int] = {}
        self._ticks_at = now
        self._lines: dict[int, object] = {}
        self.stalled = False
        self.cause: Optional[Cause] = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stall", daemon=True)

    def start(self) -> None:
        if self.timeout_s > 0 and self._moved:
            self._agent.heart.extra = lambda: {"still_s": round(self.still_s, 1)}
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    @property
    def still_s(self) -> float:
        """How long every rank of this node has been still."""
        return time.monotonic() - max(self._moved.values(), default=time.monotonic())

    def keep_stacks(self) -> None:
        """Take every rank's stack, keep it as a log of the run, and say who is not where the others are."""
        if self.cause is not None:
            return
        found: dict[int, RankStack] = {}
        for job in self._agent.job.ranks:
            paths = self._agent.paths.rank(job.rank)
            dumps = take_stacks(paths.errors)
            for rank, group in _by_rank(dumps, job.rank).items():
                text = "\n".join(f"{dump.title()}\n{dump.text}" for dump in group)
                main = next((d.text for d in group if d.text), "")
                own = self._agent.children.log_of(rank)
                found[rank] = RankStack(rank, main, own[0] if own else job.log_name)
                self._ship(rank, paths.stacks(rank), text or "This rank gave no Python stack.\n")
        stacks = [found[rank] for rank in sorted(found)]
        self.cause = explain_stall(stacks, self.still_s, self._agent.job.attempt, self._agent.job.node)

    def wait_for_others(self) -> None:
        """The other nodes' agents see the stall with their next beat: ranks stay as they are until then, so that all stacks are
        taken before anything is stopped."""
        deadline = time.monotonic() + (2 * self._agent.job.heartbeat_s + 2.0 if self._many_nodes else 0.0)
        while self._agent.cancel_grace_s is None and time.monotonic() < deadline:
            self._agent.wake.wait(deadline - time.monotonic())

    def _ship(self, rank: int, path: str, text: str) -> None:
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        except OSError as error:
            self._agent.warn(f"The stack of rank {rank} could not be kept: {error}")
            return
        self._agent.logs.add(Stream(f"azureml-logs/stacks/rank_{rank}.txt", path, 0))

    def _run(self) -> None:
        while not self._stopped.wait(self._every_s):
            self._look()
            if self.still_s >= self.timeout_s and self._others_still():
                self.stalled = True
                self._agent.wake.set()
                return

    def _others_still(self) -> bool:
        """Whether the keeper says that the other nodes stand still, too."""
        if not self._many_nodes:
            return True
        still_s = self._agent.heart.answer.get("still_s")
        return still_s is not None and float(still_s) >= self.timeout_s

    def _look(self) -> None:
        now = time.monotonic()
        asked = self._agent.relay.last_use if self._agent.relay is not None else 0.0
        busy = self._busy(now)
        for rank in list(self._moved):
            size = self._written(rank)
            if size != self._sizes.get(rank) or asked > self._moved[rank]:
                self._sizes[rank], self._moved[rank] = size, now
                self._wrote = now
        look_closer = now - self._wrote >= self.timeout_s / 2
        for rank in list(self._moved):
            if not (busy.get(rank) or self._gpus_busy()):
                continue
            if not look_closer or not self._waits(rank):
                self._moved[rank] = now

    def _waits(self, rank: int) -> bool:
        """Whether all of its processes that are ranks sit in the same line of a collective as at the last look."""
        dumps = take_stacks(self._agent.paths.rank(rank).errors)
        tops = {r: next((d.text for d in group if d.text), "") for r, group in _by_rank(dumps, rank).items()}
        lines = {r: main_thread(text) for r, text in tops.items()}
        same = lines == self._lines.get(rank)
        self._lines[rank] = lines
        return same and bool(tops) and all(collective_of(text) for text in tops.values())

    def _written(self, rank: int) -> int:
        paths = self._agent.paths.rank(rank)
        total = _size(paths.log) + self._agent.children.written_bytes()
        try:
            total += sum(_size(entry.path) for entry in os.scandir(paths.journal))
        except OSError:
            pass
        return total

    def _busy(self, now: float) -> dict[int, bool]:
        """Which ranks' processes used CPU since the last look."""
        stats = all_stats()
        children: dict[int, list[int]] = {}
        for stat in stats.values():
            children.setdefault(stat.parent, []).append(stat.pid)
        roots = dict(self._agent.rank_pids())
        span_s = max(now - self._ticks_at, 1e-3)
        self._ticks_at = now
        busy, seen = {}, {}
        for rank in self._moved:
            used = 0
            for pid in _tree(roots.get(rank, 0), stats, children):
                seen[pid] = stats[pid].cpu_ticks
                used += seen[pid] - self._ticks.get(pid, seen[pid])
            busy[rank] = used / TICKS_PER_S / span_s > BUSY_CPU
        self._ticks = seen
        return busy

    def _gpus_busy(self) -> bool:
        gpus = self._agent.sampler.last_gpus
        return any(gpu.get("util_percent", 0.0) > BUSY_GPU_PERCENT for gpu in gpus)


def _timeout_s(agent: Agent) -> float:
    """The run's own variable, else the setting."""
    for rank in agent.job.ranks:
        given = rank.variables.get("ROOKERY_STALL_TIMEOUT_S", "")
        if given:
            try:
                return max(0.0, float(given))
            except ValueError:
                agent.warn(f"ROOKERY_STALL_TIMEOUT_S={given!r} is not a number of seconds; the setting counts.")
                break
    return agent.job.stall_timeout_s


def _by_rank(dumps: list[Dump], own: int) -> dict[int, list[Dump]]:
    """Processes by the rank they are; a launcher, which is none, is left out where it has ranks below it."""
    found: dict[int, list[Dump]] = {}
    for dump in dumps:
        if dump.rank is not None:
            found.setdefault(dump.rank, []).append(dump)
    if not found and dumps:
        found[own] = list(dumps)
    return found or {own: []}


def _tree(root: int, stats: dict[int, Stat], children: dict[int, list[int]]) -> set[int]:
    todo, found = [root], set()
    while todo:
        pid = todo.pop()
        if pid in stats and pid not in found:
            found.add(pid)
            todo += children.get(pid, [])
    return found


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
