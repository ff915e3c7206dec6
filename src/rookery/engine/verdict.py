"""The words of failures that the engine itself finds: what happened, and what to try."""

from __future__ import annotations

from typing import Any

from rookery.engine.observations import AgentLost
from rookery.engine.outcome import LOST, Outcome
from rookery.spec.cause import Cause, CauseKind
from rookery.spec.plain import to_plain

__all__ = ["bad_cause", "environment_cause", "lost_cause", "placement_cause"]


def lost_cause(attempt: int, seen: AgentLost) -> dict[str, Any]:
    """The agent of a node died and took its ranks with it."""
    advice = ["Submit it again, or let it be tried again by itself with retries_lost_node."]
    if seen.signal == "SIGKILL":
        advice.insert(
            0,
            "SIGKILL often means that the machine ran out of memory: look at `dmesg`, lower the "
            "batch size or the number of runs at a time.",
        )
    return to_plain(
        Cause(
            kind=CauseKind.LOST_NODE,
            summary=seen.words,
            attempt=attempt,
            node=seen.node,
            exit_code=seen.exit_code,
            signal=seen.signal,
            last_lines=seen.last_lines,
            advice=tuple(advice),
        )
    )


def placement_cause(attempt: int, words: str) -> dict[str, Any]:
    """Rookery could not do its part."""
    advice = (
        "Look at agent.log in the run's folder and at keeper.log.",
        "`rookery doctor` tells what this machine lacks.",
    )
    return to_plain(Cause(kind=CauseKind.SYSTEM_ERROR, summary=words, attempt=attempt, advice=advice))


def environment_cause(words: str) -> dict[str, Any]:
    advice = (
        "Correct the environment's interpreter_path (or leave it out to use the interpreter that "
        "submits) and submit again.",
    )
    return to_plain(Cause(kind=CauseKind.ENVIRONMENT, summary=words, advice=advice))


def bad_cause(attempt: int, outcome: Outcome) -> dict[str, Any]:
    """The cause of an outcome; one that came without any gets at least a sentence."""
    if outcome.cause:
        return {"attempt": attempt, **outcome.cause}
    if outcome.result == LOST:
        return to_plain(Cause(kind=CauseKind.LOST_NODE, summary="A node of the run was lost.", attempt=attempt))
    return to_plain(Cause(kind=CauseKind.USER_ERROR, summary="The run failed and left no reason.", attempt=attempt))
