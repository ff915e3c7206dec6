"""The words of failures that the engine itself finds: what happened, and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Optional

from rookery.engine.observations import AgentLost
from rookery.engine.outcome import CANCELED, COMPLETED, FAILED, LOST, Outcome
from rookery.spec.cause import Cause, CauseKind
from rookery.spec.plain import to_plain

__all__ = [
    "bad_cause",
    "data_cause",
    "deciding_outcome",
    "environment_cause",
    "lost_cause",
    "lost_with",
    "placement_cause",
]


def deciding_outcome(outcomes: Sequence[Optional[Outcome]], first_bad: int) -> Optional[Outcome]:
    """Which node's end is the reason that an attempt failed, once all nodes have ended.

    Nodes report one after the other, and the one that broke need not be the first: its peers notice a closed connection at once
    and may be quicker. So a failure of its own (an exception, a crash, a lost node) comes before one that only tells of lost
    peers, and among those the earliest error counts. A node that was told to stop may have broken just before.

    Args:
        first_bad: the node that was first reported to have ended badly; decides where nothing else does.
    """
    reported = outcomes[first_bad]
    if reported is None:
        return None
    bad = [o for o in outcomes if o is not None and o.result != COMPLETED and (o.result == LOST or o.cause)]
    own = [o for o in bad if not (o.cause or {}).get("collateral")]
    if own:
        if reported in own and reported.result != CANCELED and not all((o.cause or {}).get("time") for o in own):
            return reported
        first = min(own, key=lambda o: (o.cause or {}).get("time") or float("inf"))
        return replace(first, result=FAILED) if first.result == CANCELED else first
    if not bad:
        return reported
    stalled = [
        o for o in bad if (o.cause or {}).get("kind") == CauseKind.STALLED
    ]  # what was stopped then lost its peers
    if stalled:
        return replace(stalled[0], result=FAILED)
    first = min(bad, key=lambda o: (o.cause or {}).get("time") or float("inf"))
    ended = sorted(
        int(r["rank"]) for o in outcomes if o is not None and o.result == COMPLETED for r in o.ranks if "rank" in r
    )
    return Outcome(FAILED, _left_alone(first.cause or {}, ended) if ended else first.cause, first.ranks)


def _left_alone(cause: dict[str, Any], ended: Sequence[int]) -> dict[str, Any]:
    """All that failed had lost their peers, and some ranks had ended well: those ended too early."""
    return {
        **cause,
        "rank": ended[0],
        "exit_code": 0,
        "signal": None,
        "node": None,
        "fault": "different_code_paths",
        "summary": f"Rank {ended[0]} ended (exit code 0) while rank {cause.get('rank')} still waited for it in a collective: "
        f"the ranks do not run the same code path. {cause.get('summary', '')}",
        "advice": [
            "Make every rank call the same collectives equally often: look for an `if rank == …` around one, and for data that "
            "gives some ranks fewer batches (drop_last=True, or torch's Join)."
        ],
    }


def lost_cause(attempt: int, seen: AgentLost, machine: str = "") -> dict[str, Any]:
    """The agent of a node died and took its ranks with it. `machine` is where it ran, where that is not this one."""
    summary = seen.words if not machine or machine in seen.words else f"{seen.words} It ran on machine {machine}."
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
            summary=summary,
            attempt=attempt,
            node=seen.node,
            exit_code=seen.exit_code,
            signal=seen.signal,
            last_lines=seen.last_lines,
            advice=tuple(advice),
        )
    )


def lost_with(machine: str, state: str) -> str:
    """What was not shipped when a machine went away."""
    return f"What machine {machine} had not sent yet (the last lines of its logs, its metrics and outputs) is lost: it is {state}."


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


def data_cause(words: str) -> dict[str, Any]:
    """What a run was to be given cannot be had."""
    advice = ("Look at the data set with `rookery data show`, mend it or its datastore, and submit again.",)
    return to_plain(Cause(kind=CauseKind.DATA, summary=words, advice=advice))


def bad_cause(attempt: int, outcome: Outcome) -> dict[str, Any]:
    """The cause of an outcome; one that came without any gets at least a sentence."""
    if outcome.cause:
        return {"attempt": attempt, **outcome.cause}
    if outcome.result == LOST:
        return to_plain(Cause(kind=CauseKind.LOST_NODE, summary="A node of the run was lost.", attempt=attempt))
    return to_plain(Cause(kind=CauseKind.USER_ERROR, summary="The run failed and left no reason.", attempt=attempt))
