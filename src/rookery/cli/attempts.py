"""The attempts of a run, its nodes and how each rank ended, for `rookery show`."""

from __future__ import annotations

from typing import Any

from rookery.cli.fields import heading
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, say
from rookery.cli.words import between, local_time

__all__ = ["print_attempts", "rank_words"]

MOST_RANKS = 64


def print_attempts(run: dict[str, Any], every: bool) -> None:
    """Each attempt where there was more than one; then the nodes of the last one with their ranks' exit codes."""
    attempts = run.get("attempts") or []
    if len(attempts) > 1:
        heading("Attempts")
        columns = (
            Column("#", right=True),
            Column("RESULT"),
            Column("TOOK", right=True),
            Column("STARTED", rank=2),
            Column("WHY", rank=1, shrinks=True),
        )
        print_table(columns, [_attempt_row(a) for a in attempts], indent=2)
    if attempts and _is_worth_showing(attempts[-1]):
        _print_nodes(attempts[-1], every)


def rank_words(rank: dict[str, Any]) -> str:
    """`3: exit 1`, `0: SIGKILL`."""
    how = rank.get("signal") or (f"exit {rank['exit_code']}" if rank.get("exit_code") is not None else "unknown")
    return f"{rank.get('rank')}: {how}"


def _attempt_row(attempt: dict[str, Any]) -> tuple[object, ...]:
    cause = attempt.get("cause") or {}
    return (
        attempt["attempt"],
        attempt.get("result") or "goes on",
        between(attempt.get("started_utc"), attempt.get("ended_utc")),
        local_time(attempt["started_utc"]) if attempt.get("started_utc") else "",
        clean(cause.get("summary") or ""),
    )


def _is_worth_showing(attempt: dict[str, Any]) -> bool:
    """A single rank that ended well is told by the status already."""
    ranks = [r for n in attempt["nodes"] for r in n["ranks"]]
    return len(attempt["nodes"]) > 1 or len(ranks) > 1 or any(r.get("exit_code") != 0 for r in ranks)


def _print_nodes(attempt: dict[str, Any], every: bool) -> None:
    heading("Nodes")
    rows, hidden = [], 0
    for i, node in enumerate(attempt["nodes"]):
        shown = node["ranks"] if every else node["ranks"][:MOST_RANKS]
        hidden += len(node["ranks"]) - len(shown)
        rows.append((i, node["id"], node.get("result") or "", ", ".join(map(rank_words, shown))))
    columns = (Column("#", right=True), Column("NODE"), Column("RESULT"), Column("RANKS", rank=1, shrinks=not every))
    print_table(columns, rows, indent=2)
    if hidden:
        say(f"  … {hidden} more ranks (--all shows them)")
