"""The words of a node that was taken away on purpose."""

from __future__ import annotations

from typing import Any

from rookery.spec.cause import Cause, CauseKind
from rookery.spec.plain import to_plain

__all__ = ["preempted_cause", "preempting_words"]


def preempted_cause(attempt: int, node: int, node_id: str) -> dict[str, Any]:
    """A node was preempted and its agent did not live to say so."""
    advice = (
        "Runs on low-priority clusters are tried again by themselves; raise the number with "
        "run_config.retries.lost_node or `rookery run --lost-node-retries N`.",
    )
    return to_plain(
        Cause(CauseKind.PREEMPTED, f"Node '{node_id}' was preempted.", attempt=attempt, node=node, advice=advice)
    )


def preempting_words(node_id: str, grace_s: float) -> str:
    return f"node '{node_id}' is being preempted: its processes have {grace_s:g} s to save their work"
