"""Python stacks as faulthandler writes them: which rank waits in a collective, and which does something else. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from rookery.spec.cause import Cause, CauseKind

__all__ = ["RankStack", "collective_of", "explain_stall", "main_thread", "where"]

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]*)", line (?P<line>\d+|\?\?\?) in (?P<name>.+)$')
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x", re.MULTILINE)
# Names that mean a collective wherever they are defined; the others only inside the libraries below.
_NAMES = frozenset(
    [
        "barrier",
        "monitored_barrier",
        "all_reduce",
        "allreduce",
        "allreduce_",
        "all_gather",
        "allgather",
        "all_gather_into_tensor",
        "all_to_all",
        "alltoall",
        "reduce_scatter",
        "reducescatter",
        "broadcast_parameters",
        "broadcast_object",
        "all_gather_object",
    ]
)
_LIBRARIES = re.compile(
    r"[/\\]torch[/\\]distributed[/\\]|[/\\]horovod[/\\]|[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed"
)
# DDP reduces gradients inside backward: a rank whose peers never come waits there.
_BACKWARD = frozenset(("_engine_run_backward",))
_NOT_WAITING = ("torch/distributed/run.py", "torch/distributed/launch", "torch/distributed/elastic")  # a launcher's own


@dataclass(frozen=True)
class RankStack:
    """What one rank was doing. `text` is all that was dumped."""

    rank: int
    text: str = ""
    log: str = ""


def main_thread(text: str) -> list[tuple[str, str, str]]:
    """(file, line, function) of the main thread, innermost first. faulthandler writes the main thread last."""
    starts = [found.start() for found in _THREAD.finditer(text)]
    if not starts:
        return []
    frames = []
    for line in text[starts[-1] :].splitlines()[1:]:
        found = _FRAME.match(line)
        if found:
            frames.append((found["file"], found["line"], found["name"]))
    return frames


def collective_of(text: str) -> Optional[str]:
    """The collective that the main thread waits in, or None."""
    for file, _line, name in main_thread(text):
        path = file.replace("\\", "/")
        if any(part in path for part in _NOT_WAITING):
            return None
        if name in _NAMES or name in _BACKWARD:
            return "backward (gradients are reduced)" if name in _BACKWARD else name
        if _LIBRARIES.search(file):
            return _outermost(text) or name
    return None


def _outermost(text: str) -> Optional[str]:
    """The call that the user's code made into the library: what a person would call the collective."""
    inside = [name for file, _line, name in main_thread(text) if _LIBRARIES.search(file) and name != "wrapper"]
    return inside[-1] if inside else None


def where(text: str) -> str:
    """'train.py:12 in wait_for_data': the innermost line that is the user's own, else the innermost at all."""
    frames = main_thread(text)
    if not frames:
        return "somewhere that gave no Python stack"
    own = [f for f in frames if "site-packages" not in f[0] and "/lib/python" not in f[0] and not f[0].startswith("<")]
    file, line, name = (own or frames)[0]
    return f"{file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{line} in {name}"


def explain_stall(
    stacks: Sequence[RankStack], still_s: float, attempt: int, node: int, last_lines: tuple[str, ...] = ()
) -> Cause:
    """Names the rank that is not in the collective. Ranks that all wait are somebody else's victims (collateral)."""
    inside = {s.rank: collective_of(s.text) for s in stacks}
    waiting = [s for s in stacks if inside[s.rank]]
    others = [s for s in stacks if not inside[s.rank]]
    quiet = f"Nothing has moved for {still_s:.0f} s (stall_timeout_s)"
    if waiting and others:
        named = others[0]
        ranks = ", ".join(str(s.rank) for s in waiting)
        verb = "waits" if len(waiting) == 1 else "wait"
        summary = (
            f"{quiet}: rank{'s' if len(waiting) > 1 else ''} {ranks} {verb} in {inside[waiting[0].rank]}, but rank "
            f"{named.rank} is not in it: it is at {where(named.text)}."
        )
        advice = f"See why rank {named.rank} stays there; every rank must come to the same collectives."
    elif waiting:
        named = waiting[0]
        calls = sorted({str(inside[s.rank]) for s in waiting})
        summary = (
            f"{quiet}: every rank of node {node} waits in a collective ({', '.join(calls)}) that is never completed."
        )
        advice = (
            "The ranks called different collectives, or a rank elsewhere never came: do all run the same code path?"
        )
    else:
        named = stacks[0] if stacks else RankStack(0)
        summary = f"{quiet}: rank {named.rank} is at {where(named.text)}."
        advice = "See what it waits for."
    return Cause(
        kind=CauseKind.STALLED,
        summary=summary,
        attempt=attempt,
        node=node,
        rank=named.rank,
        traceback=named.text[-20000:] or None,
        last_lines=last_lines,
        log=named.log or None,
        advice=(
            advice,
            "Every rank's Python stack is in azureml-logs/stacks. A run that may be silent for longer sets the variable "
            "ROOKERY_STALL_TIMEOUT_S (0: never).",
        ),
        fault="stalled",
        collateral=bool(waiting) and not others,
    )
