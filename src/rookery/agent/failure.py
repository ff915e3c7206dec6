"""The first failure on this node: what every rank left behind, put together and judged (cause.py, cause_first.py)."""

from __future__ import annotations

import re
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Optional

from rookery.agent.beat import memory_total_bytes
from rookery.agent.cause import Evidence, explain_first, explain_rank
from rookery.agent.cause_evidence import Deaths, read_processes
from rookery.agent.cause_first import Process, Reported, first_process, read_launcher
from rookery.agent.logs import tail
from rookery.agent.process import RankEnd, Ranks
from rookery.spec.cause import Cause
from rookery.spec.launch import Launcher

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["Witness"]

SETTLE_S = 0.6  # how long a failure that looks like another one's consequence waits for that other one to show
_CRASHES = {"Segmentation fault": 11, "Aborted": 6, "Bus error": 7, "Floating": 8, "Illegal instruction": 4}


class Witness:
    """Sees the ranks of this node end, and says afterwards which of them was first."""

    def __init__(self, agent: Agent, ranks: Ranks) -> None:
        self._agent, self._ranks = agent, ranks
        self._seen: dict[int, float] = {}  # rank → when it was reaped
        self._failed_at: Optional[float] = None  # monotonic
        self.stopped_at = float("inf")  # unix time; what goes wrong afterwards is our doing
        job = agent.job
        alone = job.world_size <= 1 and len(job.ranks) <= 1 and not any(rank.shell for rank in job.ranks)
        self._is_mpi = job.launch is not None and job.launch.launcher == Launcher.MPI
        self._deaths = None if alone else Deaths(agent.paths.rank(rank.rank).errors for rank in job.ranks)

    def start(self) -> None:
        if self._deaths is not None:
            self._deaths.start()

    def has_failure(self) -> bool:
        """Whether a rank has failed and it is known well enough which was first. Looks at what has been reaped so far."""
        for end in self._ranks.ends:
            self._seen.setdefault(end.rank, time.time())
        if all(end.ok for end in self._ranks.ends):
            return False
        if self._failed_at is None:
            self._failed_at = time.monotonic()
        alone = not self._ranks.pids and self._agent.job.world_size <= len(self._agent.job.ranks)
        if alone or time.monotonic() - self._failed_at >= SETTLE_S:
            return True
        return not explain_first(self._evidence(False)).collateral

    @property
    def wait_s(self) -> Optional[float]:
        """How soon to look again; None: when something happens."""
        return None if self._failed_at is None else 0.05

    def stopping(self) -> None:
        """From now on ranks are stopped by us."""
        self.stopped_at = time.time()
        for end in self._ranks.ends:
            self._seen.setdefault(end.rank, self.stopped_at)

    def first_cause(self, oom: bool) -> Optional[tuple[Cause, RankEnd]]:
        """Why this node's share failed, and the end of that rank; None when no rank did by itself."""
        if self._deaths is not None:
            self._deaths.stop()
        evidence = self._evidence(oom)
        if not evidence:
            return None
        cause = explain_first(evidence, self._ended_well())
        ends = {end.rank: end for end in self._ranks.ends}
        for one in evidence:
            if explain_rank(one).time == cause.time:
                return cause, one.end
        return cause, ends.get(cause.rank or 0, evidence[0].end)

    @property
    def statuses(self) -> dict[int, int]:
        """How processes ended that are not ours to wait for, as far as anybody saw it."""
        return {**(self._deaths.statuses if self._deaths is not None else {}), **self._ranks.adopted}

    def _ended_well(self) -> list[int]:
        """Ranks that came to their end by themselves before anything was stopped, a launcher's children too."""
        found = [end.rank for end in self._ranks.ends if end.ok and self._seen.get(end.rank, 0.0) <= self.stopped_at]
        for job in self._agent.job.ranks:
            for p in read_processes(self._agent.paths.rank(job.rank).errors):
                if p.rank is not None and p.left and p.record is None and not p.exit_code and not p.forked:
                    found.append(p.rank)
        return found

    def _evidence(self, oom: bool) -> list[Evidence]:
        """Of every rank that failed before we stopped the others, or had recorded an exception by then."""
        found = []
        well = {end.rank for end in self._ranks.ends if end.ok}
        for end in self._ranks.ends:
            if end.ok:
                continue
            by_itself = self._seen.get(end.rank, float("inf")) <= self.stopped_at
            one = self._of(end, oom)
            # mpirun sends SIGTERM to all when one has failed, and has an exit code of its own after ranks that ended well.
            if end.rank in well or (self._is_mpi and end.signal == signal.SIGTERM and one.recorded is None):
                one = replace(one, only_stopped=True)
            if by_itself or (one.recorded is not None and 0 < one.time <= self.stopped_at):
                found.append(one if by_itself else replace(one, end=replace(one.end, exit_code=1, signal=None)))
        return found

    def _of(self, end: RankEnd, oom: bool) -> Evidence:
        agent = self._agent
        paths = agent.paths.rank(end.rank)
        names = {rank.rank: agent.children.node_log_name(rank.log_name) for rank in agent.job.ranks}
        log = tail(paths.log)
        processes = read_processes(paths.errors, self._deaths.gone if self._deaths else None, self.statuses)
        if end.signal is not None:  # what its helpers did before does not matter
            processes = [p for p in processes if p.pid == end.pid]
        first = first_process(processes, end.pid, self.stopped_at)
        own = next((p for p in processes if p.pid == end.pid), None)
        stack = first.stack if first is not None else own.stack if own is not None else ""
        when = first.time if first is not None and first.time else self._seen.get(end.rank, time.time())
        evidence = Evidence(
            end,
            agent.job.attempt,
            agent.job.node,
            names.get(end.rank, ""),
            log,
            first.record if first is not None else None,
            stack,
            oom,
            agent.sampler.peak_bytes,
            memory_total_bytes(),
            when,
        )
        if first is None or first.pid == end.pid:
            return evidence
        child = _of_child(evidence, first, _launcher_said(processes, log))
        own_log = agent.children.log_of(child.end.rank)
        if own_log is None:
            return child
        return replace(child, log_name=own_log[0], tail=tail(own_log[1]), shared_log=False)


def _launcher_said(processes: list[Process], log: str) -> Optional[Reported]:
    for process in processes:
        said = read_launcher(process.text)
        if said is not None:
            return said
    return read_launcher(log)


def _of_child(e: Evidence, child: Process, said: Optional[Reported]) -> Evidence:
    """The evidence of a launcher's child: its own rank, and how it ended as far as anybody knows."""
    end = RankEnd(e.end.rank if child.rank is None else child.rank, child.pid, exit_code=e.end.exit_code)
    # A launcher ends all ranks when one is gone, and one that lost its peer can be gone before the one that broke, which was still
    # on its way out with the exception that it had recorded.
    was_leaving = child.record is not None and child.signal in (signal.SIGTERM, signal.SIGKILL)
    if child.signal is not None and not was_leaving:
        return replace(e, end=replace(end, exit_code=None, signal=child.signal))
    if child.record is not None:
        return replace(e, end=replace(end, exit_code=child.exit_code or 1))
    crash = re.search(r"Fatal Python error: (.*)", child.stack)
    number = next((n for words, n in _CRASHES.items() if crash and crash.group(1).startswith(words)), None)
    if said is not None and said.pid == child.pid:
        number = said.signal or number
        end = replace(end, rank=said.rank, exit_code=said.exit_code)
    if number is not None:
        return replace(e, end=replace(end, exit_code=None, signal=number))
    if child.exit_code:
        return replace(e, end=replace(end, exit_code=child.exit_code), shared_log=True)
    return replace(e, end=end, vanished=child.gone_time is not None and not child.left and end.exit_code != 0)
