"""What the lifecycle knows of a run, as data: stored at every step, read again by the next keeper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from rookery.engine.attempts import AttemptNote
from rookery.engine.outcome import LOST, Grant, Outcome
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
    machine: str = ""  # what the engine calls the machine that its agent runs on; empty on this one
    restarts: int = 0  # finishers (or, of interactive runs, watchers) started in place of a dead agent


@dataclass(frozen=True)
class RunState:
    """All that the lifecycle knows of a run; stored with it at every step."""

    kind: str = RunKind.SCRIPT
    status: RunStatus = RunStatus.NOT_STARTED
    reason: str = ""
    attempt: int = 1
    gang: int = 1
    min_gang: int = 0  # after a loss it may go on with this many nodes; 0: only with all of them
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
    preempted: Optional[int] = None  # the node that is being taken away from this attempt
    preempt_grace_s: float = 0.0
    preempt_away_s: Optional[float] = None
    rendezvous: Optional[dict[str, Any]] = None  # {attempt, address, port}: where node 0 waits for the others
    declared: Optional[Outcome] = None  # what the owner of an interactive run has said
    built: Optional[BuiltEnvironment] = None
    cause: Optional[dict[str, Any]] = None  # why it failed, once it has
    attempts: tuple[AttemptNote, ...] = ()  # every try that got nodes, the present one last

    @property
    def all_ended(self) -> bool:
        return bool(self.nodes) and all(n.phase not in NodePhase.BUSY for n in self.nodes)

    @property
    def may_shrink(self) -> bool:
        """Whether its next try may have fewer nodes: only one that follows a loss."""
        last = self.attempts[-1] if self.attempts else None
        return 0 < self.min_gang < self.gang and last is not None and last.result == LOST

    @property
    def all_shipped(self) -> bool:
        return bool(self.nodes) and all(n.phase == NodePhase.SHIPPED for n in self.nodes)


def first_state(spec: RunSpec, lost_retries: int = 0) -> RunState:
    """A run that nobody has looked at. `lost_retries` is what its target gives a run that does not say."""
    return RunState(
        kind=spec.kind,
        gang=spec.node_count,
        compute=spec.compute,
        min_gang=spec.min_node_count or 0,
        lost_budget=lost_retries if spec.retries_lost_node is None else spec.retries_lost_node,
        user_budget=spec.retries_user_error,
    )


def store_state(state: RunState) -> dict[str, Any]:
    plain = to_plain(state)
    plain["status"] = state.status.value
    return plain


def load_state(data: dict[str, Any]) -> RunState:
    return from_plain(RunState, {**data, "status": RunStatus(data["status"])})
