"""Which failure was first: the rank that broke, not those that fell because it had. Pure.

A rank that loses its peer dies a moment later with an exception of its own ("Connection closed by peer"); a launcher whose child
failed raises one that says only that. Both are collateral: they are named only when nothing else is known. Among the rest the
earliest counts, by the time of the error itself (the recorder's), not by when the process had ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

__all__ = ["Process", "Reported", "first_process", "is_collateral", "is_wrapper", "read_launcher"]

# Exceptions that only say that somebody else has failed.
_WRAPPERS = re.compile(
    r"ChildFailedError|SignalException|ProcessRaisedException|ProcessExitedException|CalledProcessError"
)
_COLLATERAL = re.compile(
    r"(?i)connection (?:was )?(?:closed|reset|aborted|refused)(?: by (?:remote )?peer)?|broken pipe|socket (?:is )?closed"
    r"|ncclRemoteError|remote process exited|Horovod has been shut down|HorovodInternalError"
    r"|failed to recv, got 0 bytes|recvValue failed|sendBytes failed|peer (?:has )?(?:closed|gone|lost)"
    r"|MPI_ABORT was invoked|mpirun (?:noticed|has exited)|prterun (?:noticed|has exited)|PMIX.*(?:LOST_CONNECTION|ABORT)"
    r"|Some NCCL operations have failed or timed out|ConnectionResetError|BrokenPipeError|ConnectionAbortedError"
    r"|watchdog caught collective operation timeout|Timed out waiting \d+ms for (?:recv|send) operation"
    r"|wait timeout after \d+ms|store.*(?:timed out|timeout)|The client socket has (?:failed|timed out)"
)
_ROOT = re.compile(
    r"rank\s*:\s*(\d+)\s*\(local_rank:\s*(\d+)\)\s*exitcode\s*:\s*(-?\d+)\s*\(pid:\s*(\d+)\)", re.MULTILINE
)
_MPIRUN = re.compile(
    r"(?:mpirun|prterun) (?:noticed that|has exited due to) process rank (\d+) with PID (\d+) on node \S+ "
    r"(?:exited on signal (\d+)|exiting)"
)


@dataclass(frozen=True)
class Process:
    """One Python process of a rank, as it left its traces in the errors folder."""

    pid: int
    rank: Optional[int] = None
    record: Optional[Mapping[str, Any]] = None  # its uncaught exception
    stack: str = ""  # of a crash
    stack_time: float = 0.0
    exit_code: Optional[int] = None  # what it gave to sys.exit
    exit_time: float = 0.0
    left: bool = False  # it came to its own end
    forked: bool = False
    gone_time: Optional[float] = None  # when it was seen to be dead
    parent: int = 0
    main: Optional[int] = None  # it is this rank, started by a launcher; None: anything else
    started: float = 0.0
    signal: Optional[int] = None  # that ended it, as its parent was told

    @property
    def time(self) -> float:
        """When it went wrong."""
        if self.record is not None:
            return float(self.record.get("time") or 0.0)
        return self.stack_time or self.exit_time or self.gone_time or 0.0

    @property
    def text(self) -> str:
        return f"{self.record.get('type')}: {self.record.get('message')}" if self.record is not None else ""


@dataclass(frozen=True)
class Reported:
    """What a launcher said about the child that failed first."""

    rank: int
    pid: int
    exit_code: Optional[int] = None
    signal: Optional[int] = None


def is_wrapper(text: str) -> bool:
    """Whether an exception only says that a child has failed."""
    return _WRAPPERS.search(text[:2000]) is not None


def is_collateral(text: str) -> bool:
    """Whether an exception (or a last line) is that of a rank which lost its peers."""
    return is_wrapper(text) or _COLLATERAL.search(text[:4000]) is not None


def first_process(processes: Iterable[Process], own_pid: int, until: float = float("inf")) -> Optional[Process]:
    """The process that broke first among those of one rank: the rank's own, or a launcher's children.

    Args:
        own_pid: the rank's own process; its own exception counts before those of helpers it started, unless it only wraps theirs.
        until: when the others were stopped; what went wrong after that did so because of it.
    """
    known = [p for p in processes if p.time <= until or p.pid == own_pid]
    own = next((p for p in known if p.pid == own_pid and p.record is not None), None)
    if own is not None and not is_wrapper(own.text):
        return own
    # The launcher may be the rank's own process or, behind a shell, its child.
    launcher = own or next((p for p in known if p.record is not None and read_launcher(p.text)), None)
    # One that started others and recorded nothing itself only passes on their failure by its exit code.
    starters = {p.parent for p in known if not p.forked}
    children = [
        p
        for p in known
        if p.pid != own_pid and p is not launcher and (p.pid not in starters or p.record or p.stack.strip())
    ]
    said = read_launcher(launcher.text) if launcher is not None else None
    if said is not None:
        named = next((p for p in children if p.pid == said.pid), None)
        if named is not None and not (named.record is not None and is_collateral(named.text)):
            return named
    broken = [p for p in children if p.record is not None or p.stack.strip() or p.exit_code]
    # Killed: gone, never said goodbye, and not merely forked (forked workers leave by os._exit). A launcher kills too, but only
    # when a child of it is dead.
    first_death = min((p.gone_time for p in broken if p.gone_time is not None), default=float("inf"))
    killed = [
        p
        for p in children
        if p.gone_time is not None and p.gone_time <= first_death and not (p.left or p.forked or p in broken)
    ]
    both = sorted(broken + killed, key=lambda p: (p.record is not None and is_collateral(p.text), p.time))
    return both[0] if both else launcher


def read_launcher(text: str) -> Optional[Reported]:
    """The first failure as torchrun's ChildFailedError or mpirun tells it."""
    at = text.find("Root Cause")
    found = _ROOT.search(text, at if at >= 0 else 0)
    if found:
        code = int(found.group(3))
        return Reported(
            int(found.group(1)), int(found.group(4)), code if code >= 0 else None, -code if code < 0 else None
        )
    found = _MPIRUN.search(text)
    if found:
        number = int(found.group(3)) if found.group(3) else None
        return Reported(int(found.group(1)), int(found.group(2)), signal=number)
    return None
