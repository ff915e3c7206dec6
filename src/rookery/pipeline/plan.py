"""What a pipeline does next: from its graph and where every step stands, without clock or I/O.

What always holds (tests/pipeline/test_plan.py): a step is prepared only when all before it have completed; no step is started
once somebody has asked to stop, nor after a failure that nothing goes on after; when nothing is left to do the pipeline is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.spec.pipeline import NodeKind, dependencies, in_order, node_map, step_name
from rookery.spec.status import RunStatus

__all__ = ["Decision", "Phase", "Plan", "decide", "make_plan"]


class Phase:
    """Where a step stands."""

    WAITING = "waiting"  # for steps before it, or for its turn
    HELD = "held"  # another pipeline is doing the very same step
    RUNNING = "running"  # its run is made, or about to be: the row says which
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    SKIPPED = "skipped"  # a step before it failed
    OPEN = (WAITING, HELD)
    BAD = (FAILED, CANCELED, SKIPPED)
    OVER = (COMPLETED, FAILED, CANCELED, SKIPPED)


@dataclass(frozen=True)
class Plan:
    """A graph as the driver reads it: steps in order, and the steps that each waits for."""

    steps: tuple[str, ...]
    before: Mapping[str, tuple[str, ...]]
    names: Mapping[str, str]
    goes_on: frozenset[str]  # whose failure does not stop the others

    def after(self, node: str) -> list[str]:
        """All steps that depend on this one, near and far, in order."""
        found = {node}
        for step in self.steps:
            if any(each in found for each in self.before[step]):
                found.add(step)
        return [step for step in self.steps if step in found and step != node]


@dataclass
class Decision:
    prepare: list[str] = field(default_factory=list)
    change: dict[str, dict[str, Any]] = field(default_factory=dict)  # node → columns
    stop: list[str] = field(default_factory=list)  # steps whose runs are to be canceled
    status: Optional[RunStatus] = None  # the pipeline's last one, when it is over


def make_plan(graph: dict[str, Any], continue_on_failure: bool) -> Plan:
    """Of a graph that has no problems."""
    nodes, before = node_map(graph), dependencies(graph)
    steps = tuple(key for key in in_order(graph) if nodes[key].get("kind") in NodeKind.STEPS)
    known = set(steps)
    return Plan(
        steps=steps,
        before={key: tuple(each for each in before[key] if each in known) for key in steps},
        names={key: step_name(key, nodes[key]) for key in steps},
        goes_on=frozenset(key for key in steps if continue_on_failure or nodes[key].get("continue_on_failure")),
    )


def decide(plan: Plan, phases: Mapping[str, str], cancel: bool, busy: frozenset[str] = frozenset()) -> Decision:
    """What follows. `busy` are steps that are being prepared already."""
    now = dict(phases)
    found = Decision()
    stopper = next(
        (key for key in plan.steps if now[key] in (Phase.FAILED, Phase.CANCELED) and key not in plan.goes_on), None
    )
    for key in plan.steps:
        phase = now[key]
        if cancel:
            if phase in Phase.OPEN:
                _end(found, now, key, Phase.CANCELED, "the pipeline was canceled")
            elif phase == Phase.RUNNING:
                found.stop.append(key)
            continue
        if phase not in Phase.OPEN:
            continue
        bad = next((each for each in plan.before[key] if now[each] in Phase.BAD), None)
        if bad is not None:
            verb = {Phase.FAILED: "failed", Phase.CANCELED: "was canceled", Phase.SKIPPED: "was not run"}[now[bad]]
            _end(found, now, key, Phase.SKIPPED, f"not run: '{plan.names[bad]}' {verb}")
        elif stopper is not None:
            words = f"not run: '{plan.names[stopper]}' failed, and the pipeline does not continue on failure"
            _end(found, now, key, Phase.SKIPPED, words)
        elif phase == Phase.WAITING and key not in busy and all(now[e] == Phase.COMPLETED for e in plan.before[key]):
            found.prepare.append(key)
    if all(now[key] in Phase.OVER for key in plan.steps):
        if cancel:
            found.status = RunStatus.CANCELED
        elif all(now[key] == Phase.COMPLETED for key in plan.steps):
            found.status = RunStatus.COMPLETED
        else:
            found.status = RunStatus.FAILED
    return found


def _end(found: Decision, now: dict[str, str], key: str, phase: str, reason: str) -> None:
    now[key] = phase
    found.change[key] = {"phase": phase, "reason": reason}
