"""What the lifecycle knows of a run, as data: stored at every step, read again by the next keeper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from rookery.engine.outcome import Grant, Outcome
from rookery.environments import BuiltEnvironment
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["NodePhase", "NodeState", "RunState", "first_state", "load_state", "store_state"]


class NodePhase:
    """How far one node's share of the attempt is."""

    PLACED = "placed"  # its agent is asked for; whether it runs is seen on disk and in /proc
    RUNNING = "running"  # its ranks run
    ENDED = "ended"  # its ranks are gone, what they left is being shipped
    SHIPPED = "shipped"  # everything is stored, or given up

    BUSY = (PLACED, RUNNING)


@dataclass(frozen=True)
class NodeState:
    phase: str = NodePhase.PLACED
    outcome: Optional[Outcome] = None
    restarts: int = 0  # finishers (or, of interactive runs, watchers) started in place of a dead agent


@dataclass(frozen=True)
class RunState:
    """All that the lifecycle knows of a run; stored with it at every step."""

    kind: str = RunKind.SCRIPT
    status: RunStatus = RunStatus.NOT_STARTED
    reason: str = ""
    attempt: int = 1
    gang: int = 1
    compute: str = ""
    lost_budget: int = 0
    user_budget: int = 0
    cancel: bool = False  # somebody asked to stop it before its ranks had ended
    no_retry: bool = False  # somebody asked afterwards: the attempt counts as it ended, no other follows
    stop: bool = False  # the agents of this attempt are to stop
    holding: bool = False  # it holds the nodes in `grants`
    grants: tuple[Grant, ...] = ()
    nodes: tuple[NodeState, ...] = ()
    silent: tuple[int, ...] = ()
    first_bad: Optional[int] = None  # the node whose end decides a failed attempt
    declared: Optional[Outcome] = None  # what the owner of an interactive run has said
    built: Optional[BuiltEnvironment] = None
    cause: Optional[dict[str, Any]] = None  # why it failed, once it has

    @property
    def all_ended(self) -> bool:
        return bool(self.nodes) and all(n.phase not in NodePhase.BUSY for n in self.nodes)

    @property
    def all_shipped(self) -> bool:
        return bool(self.nodes) and all(n.phase == NodePhase.SHIPPED for n in self.nodes)


def first_state(spec: RunSpec) -> RunState:
    """A run that nobody has looked at."""
    return RunState(
        kind=spec.kind,
        gang=spec.node_count,
        compute=spec.compute,
        lost_budget=spec.retries_lost_node,
        user_budget=spec.retries_user_error,
    )


def store_state(state: RunState) -> dict[str, Any]:
    plain = to_plain(state)
    plain["status"] = state.status.value
    return plain


def load_state(data: dict[str, Any]) -> RunState:
    return from_plain(RunState, {**data, "status": RunStatus(data["status"])})
