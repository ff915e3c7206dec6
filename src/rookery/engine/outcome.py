"""How a node's share of an attempt ended, and what a node gave to it. Plain data that is stored with the
run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

__all__ = ["CANCELED", "COMPLETED", "FAILED", "LOST", "Grant", "Outcome", "read_outcome"]

COMPLETED, FAILED, CANCELED, LOST = "completed", "failed", "canceled", "lost"


@dataclass(frozen=True)
class Outcome:
    """`result` is one of completed, failed, canceled, lost; `cause` is a spec.cause.Cause as JSON data."""

    result: str
    cause: Optional[dict[str, Any]] = None
    ranks: tuple[dict[str, Any], ...] = ()  # {rank, exit_code, signal} of each


@dataclass(frozen=True)
class Grant:
    """One node that a run holds: its id, and the cores and GPUs of this machine that go with it."""

    id: str
    cpus: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()


def read_outcome(body: Any) -> Optional[Outcome]:
    """An Outcome of the protocol as we keep it, or None when it is not one (a file half written, another
    version)."""
    if not isinstance(body, dict) or body.get("result") not in (COMPLETED, FAILED, CANCELED, LOST):
        return None
    cause = body.get("cause")
    ranks = body.get("ranks")
    return Outcome(
        str(body["result"]),
        cause if isinstance(cause, dict) else None,
        tuple(_rank(r) for r in ranks if isinstance(r, dict)) if isinstance(ranks, list) else (),
    )


def _rank(given: dict[str, Any]) -> dict[str, Any]:
    return {key: given.get(key) for key in ("rank", "exit_code", "signal")}
