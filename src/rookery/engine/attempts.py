"""The tries of a run, one by one, for people: kept with its state, shown in `Run.attempts`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Optional

from rookery.spec.run import RunKind

if TYPE_CHECKING:
    from rookery.engine.run_state import RunState

__all__ = ["AttemptNote", "NodeNote", "close_attempt", "note_attempt", "stamp_attempts"]


@dataclass(frozen=True)
class NodeNote:
    """One node's share of a try. `ranks` are {rank, exit_code, signal} as its agent reported them."""

    id: str
    result: Optional[str] = None
    ranks: tuple[dict[str, Any], ...] = ()
    machine: str = ""


@dataclass(frozen=True)
class AttemptNote:
    """One try. It begins when the run gets its nodes, and ends when the last rank has; `result` is None until
    everything of it is stored."""

    attempt: int
    started_utc: Optional[str] = None
    ended_utc: Optional[str] = None
    result: Optional[str] = None
    cause: Optional[dict[str, Any]] = None
    nodes: tuple[NodeNote, ...] = ()


def note_attempt(s: RunState) -> RunState:
    """The same state, with what is known of the present try noted."""
    if s.kind != RunKind.SCRIPT or not s.nodes:
        return s
    nodes = tuple(
        NodeNote(grant.id, node.outcome.result, node.outcome.ranks, node.machine)
        if node.outcome
        else NodeNote(grant.id, machine=node.machine)
        for grant, node in zip(s.grants, s.nodes)
    )
    before, last = s.attempts, AttemptNote(s.attempt)
    if before and before[-1].attempt == s.attempt:
        before, last = before[:-1], before[-1]
    return replace(s, attempts=(*before, replace(last, nodes=nodes)))


def close_attempt(s: RunState, result: str, cause: Optional[dict[str, Any]]) -> RunState:
    """The same state, with the result of the present try noted."""
    s = note_attempt(s)
    if not s.attempts or s.attempts[-1].attempt != s.attempt:
        return s
    return replace(s, attempts=(*s.attempts[:-1], replace(s.attempts[-1], result=result, cause=cause)))


def stamp_attempts(s: RunState, now_utc: str) -> RunState:
    """The same state, with times where the lifecycle, which has no clock, has left them open."""
    fresh = tuple(_stamp(note, s, now_utc) for note in s.attempts)
    return s if fresh == s.attempts else replace(s, attempts=fresh)


def _stamp(note: AttemptNote, s: RunState, now_utc: str) -> AttemptNote:
    is_over = note.result is not None or note.attempt != s.attempt or s.all_ended
    return replace(
        note,
        started_utc=note.started_utc or now_utc,
        ended_utc=note.ended_utc or (now_utc if is_over else None),
    )
