"""Why a run failed, as data and as one block of text. The agent fills it in; SDK, CLI and studio show the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

__all__ = ["Cause", "CauseKind", "format_cause"]


class CauseKind:
    """What kind of thing went wrong; retries and the API's error code depend on it."""

    USER_ERROR = "UserError"  # the script raised, exited non-zero or was killed by a signal of its own making
    SYSTEM_ERROR = "SystemError"  # Rookery could not do its part
    LOST_NODE = "NodeLost"  # the agent or its machine died
    PREEMPTED = "Preempted"  # the node was taken away: nobody's error, and it counts as lost
    TIME_LIMIT = "TimeLimit"
    ENVIRONMENT = "EnvironmentError"  # the environment could not be prepared
    INFEASIBLE = "Infeasible"  # the target can never run it
    DATA = "DataError"  # an input could not be had, or an output not be kept
    STALLED = "Stalled"  # nothing moved for too long, or ranks waited for one that did not come


@dataclass(frozen=True)
class Cause:
    kind: str
    summary: str  # one sentence: what happened
    attempt: int = 1
    node: Optional[int] = None
    rank: Optional[int] = None
    exit_code: Optional[int] = None
    signal: Optional[str] = None  # "SIGKILL"
    exception: Optional[str] = None  # "ValueError: bad shape"
    traceback: Optional[str] = None
    last_lines: tuple[str, ...] = ()
    log: Optional[str] = None  # name of the log that has it all
    advice: tuple[str, ...] = ()
    fault: str = ""  # what it was recognised as: a row of docs/faults.md, empty when it is none of them
    time: Optional[float] = None  # unix time of the error itself, which is before the process ended
    collateral: bool = False  # it fell because another rank had; shown only when nothing better is known


def format_cause(cause: Cause) -> str:
    """One block for people: what, where, the traceback or the last lines, what to try."""
    lines = [cause.summary]
    where = []
    if cause.rank is not None:
        where.append(f"rank {cause.rank}")
    if cause.node is not None:
        where.append(f"node {cause.node}")
    if cause.attempt > 1:
        where.append(f"attempt {cause.attempt}")
    if cause.exit_code is not None:
        where.append(f"exit code {cause.exit_code}")
    if cause.signal:
        where.append(f"signal {cause.signal}")
    if where:
        lines.append("Where: " + ", ".join(where))
    if cause.traceback:
        lines += ["", cause.traceback.rstrip("\n")]
    elif cause.last_lines:
        lines += ["", "Last lines:"] + ["  " + line for line in cause.last_lines]
    if cause.advice:
        lines += ["", "What to try:"] + ["- " + line for line in cause.advice]
    if cause.log:
        lines += ["", f"Full log: {cause.log}"]
    return "\n".join(lines)
