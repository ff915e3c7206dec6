"""MLflow's words in ours, and what is odd about its data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

__all__ = ["CONTEXT", "MODEL_STATUS", "STATUS", "finite", "parents_first"]

CONTEXT = "mlflow.data.context"
STATUS = {
    "RUNNING": "Running",
    "SCHEDULED": "Queued",
    "FINISHED": "Completed",
    "FAILED": "Failed",
    "KILLED": "Canceled",
}
MODEL_STATUS: dict[object, str] = {
    1: "pending",
    2: "ready",
    3: "failed",
    "LOGGED_MODEL_PENDING": "pending",
    "LOGGED_MODEL_READY": "ready",
    "LOGGED_MODEL_UPLOAD_FAILED": "failed",
    "PENDING": "pending",
    "READY": "ready",
    "FAILED": "failed",
}


def finite(value: float) -> float:
    """The value that was logged: MLflow's databases keep an infinity as the largest number there is."""
    if abs(value) >= sys.float_info.max:
        return float("inf") if value > 0 else float("-inf")
    return float(value)


def parents_first(ids: Iterable[str], parents: Mapping[str, str]) -> list[str]:
    """The same ids in their order, but no child before its parent. A circle is broken where it is met."""
    wanted = list(ids)
    known: set[str] = set(wanted)
    done: set[str] = set()
    found: list[str] = []
    for first in wanted:
        line = []
        at: str = first
        while at in known and at not in done:
            done.add(at)
            line.append(at)
            at = parents.get(at, "")
        found.extend(reversed(line))
    return found
