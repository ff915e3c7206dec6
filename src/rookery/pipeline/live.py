"""A pipeline that is not over, in memory, and which of them is at which step. Only the driver's thread changes either."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.pipeline.plan import Phase, Plan
from rookery.record import Record

__all__ = ["LivePipeline", "SameSteps"]


@dataclass
class LivePipeline:
    """What the record has of it, and what is only known here: who is busy, whom it listens to, what it has told."""

    run: dict[str, Any]
    graph: dict[str, Any]
    options: dict[str, Any]
    parameters: dict[str, Any]
    plan: Plan
    steps: dict[str, dict[str, Any]]  # as they are stored
    cancel: bool = False
    busy: dict[str, float] = field(default_factory=dict)  # being prepared, since when
    stopped: set[str] = field(default_factory=set)  # runs that were asked to stop
    listening: dict[str, Callable[[], None]] = field(default_factory=dict)  # run → how to stop
    reason: str = ""
    told: float = 0.0  # when its reason was last written
    lines: list[str] = field(default_factory=list)  # of its log, to be written together

    @property
    def id(self) -> str:
        return str(self.run["id"])

    def change(self, record: Record, changes: dict[str, dict[str, Any]]) -> None:
        """Columns of steps: stored, then in memory."""
        record.pipeline_steps.change(self.id, changes)
        for node, values in changes.items():
            self.steps[node].update(values)

    def listen(self, record: Record, run_id: str, mark: Callable[[str], None]) -> None:
        """From now on `mark(id)` is called when something happens to the run of a step; once at once: it may be over already."""
        if run_id not in self.listening:
            self.listening[run_id] = record.bell.subscribe(f"run/{run_id}", lambda: mark(self.id))
        mark(self.id)

    def forget_run(self, run_id: Optional[str]) -> None:
        stop = self.listening.pop(run_id, None) if run_id else None
        if stop is not None:
            stop()

    def held_by(self, key: str) -> list[str]:
        """The steps that wait for somebody else to end the same one."""
        return [node for node, row in self.steps.items() if row["phase"] == Phase.HELD and row["key"] == key]


class SameSteps:
    """Who is doing the step of a key, so that nobody does it at the same time."""

    def __init__(self) -> None:
        self._doing: dict[str, tuple[str, str]] = {}  # key → (pipeline, node) that is at it
        self._done_at: dict[str, float] = {}  # key → when it was last over

    def begin(self, key: str, pipeline: str, node: str) -> None:
        """Whoever is at it already stays the one whom others wait for."""
        self._doing.setdefault(key, (pipeline, node))

    def end(self, key: str, pipeline: str, node: str) -> bool:
        """Whether that was the one whom others may wait for."""
        if not key or self._doing.get(key) != (pipeline, node):
            return False
        del self._doing[key]
        self._done_at[key] = time.monotonic()
        return True

    def who(self, key: str) -> Optional[tuple[str, str]]:
        """(pipeline, node) that is at it."""
        return self._doing.get(key)

    def ended_since(self, key: str, moment: float) -> bool:
        return self._done_at.get(key, -1.0) >= moment
