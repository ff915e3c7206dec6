"""What the lifecycle can be told. Values only: whoever saw it has read the clock and the disk already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from rookery.engine.outcome import Grant, Outcome
from rookery.environments import BuiltEnvironment
from rookery.spec.status import RunStatus

__all__ = [
    "AgentHello",
    "AgentLost",
    "AgentsPlaced",
    "CancelOverdue",
    "CancelRequested",
    "EnvironmentBuilding",
    "EnvironmentFailed",
    "EnvironmentGone",
    "EnvironmentReady",
    "HeardAgain",
    "NodeBusy",
    "NodePreempted",
    "NodesGranted",
    "Observation",
    "PlacementFailed",
    "PlacementWaits",
    "RanksEnded",
    "RanksRunning",
    "Recovered",
    "RendezvousOpened",
    "Scaling",
    "Shipped",
    "Silence",
    "StatusReported",
    "Submitted",
    "Waiting",
]


@dataclass(frozen=True)
class Observation:
    """Anything that may change a run."""


@dataclass(frozen=True)
class Submitted(Observation):
    """The record has the run; nobody has looked at it yet."""


@dataclass(frozen=True)
class Recovered(Observation):
    """A new keeper has found this run in the record: whatever was under way must be taken up again."""


@dataclass(frozen=True)
class EnvironmentBuilding(Observation):
    """Its environment is not at hand: it is being built or checked now."""

    reason: str


@dataclass(frozen=True)
class EnvironmentGone(Observation):
    """Its environment was there and has been removed while nobody held it (no keeper was up)."""


@dataclass(frozen=True)
class EnvironmentReady(Observation):
    built: BuiltEnvironment


@dataclass(frozen=True)
class EnvironmentFailed(Observation):
    cause: dict[str, Any]


@dataclass(frozen=True)
class Waiting(Observation):
    """It stays in the queue; `reason` names what it waits for and who holds it."""

    reason: str


@dataclass(frozen=True)
class Scaling(Observation):
    """Nodes are being brought up for it."""

    reason: str


@dataclass(frozen=True)
class NodesGranted(Observation):
    """All nodes of its gang are its own now."""

    grants: tuple[Grant, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class CancelRequested(Observation):
    """Somebody asked to stop it."""


@dataclass(frozen=True)
class CancelOverdue(Observation):
    """Its agents were told to stop and have not reaped their ranks in time."""


@dataclass(frozen=True)
class StatusReported(Observation):
    """What the owner of a child or interactive run says of it."""

    status: RunStatus
    cause: Optional[dict[str, Any]] = None


@dataclass(frozen=True)
class AttemptObservation(Observation):
    """Something about one try; of another try than the present one it is old news."""

    attempt: int


@dataclass(frozen=True)
class AgentsPlaced(AttemptObservation):
    """The engine has started every agent of the gang."""


@dataclass(frozen=True)
class PlacementFailed(AttemptObservation):
    """The engine could not start the gang; none of its agents runs."""

    words: str


@dataclass(frozen=True)
class PlacementWaits(AttemptObservation):
    """Its agents wait in the queue of the engine, for what the reason says; empty when they do not any more."""

    reason: str


@dataclass(frozen=True)
class NodeObservation(AttemptObservation):
    node: int


@dataclass(frozen=True)
class AgentHello(NodeObservation):
    """The agent of a node is up and talks to us; `machine` is what the engine calls where it runs."""

    machine: str = ""


@dataclass(frozen=True)
class NodeBusy(NodeObservation):
    """What the agent is about before it starts its ranks."""

    words: str


@dataclass(frozen=True)
class RanksRunning(NodeObservation):
    """The agent has started its ranks."""


@dataclass(frozen=True)
class RendezvousOpened(NodeObservation):
    """The agent of node 0 waits for the others to dial it."""

    address: str
    port: int


@dataclass(frozen=True)
class Silence(NodeObservation):
    """The agent's process is there, but it has not been heard of for too long."""

    words: str


@dataclass(frozen=True)
class HeardAgain(NodeObservation):
    """A silent agent has spoken."""


@dataclass(frozen=True)
class RanksEnded(NodeObservation):
    """The agent has reaped its ranks (or, of an interactive run, the user's process has ended or said so)."""

    outcome: Outcome


@dataclass(frozen=True)
class NodePreempted(NodeObservation):
    """The node is taken away: its ranks have `grace_s` to save their work."""

    grace_s: float
    away_s: Optional[float] = None  # how long it stays away; None: as the setting says


@dataclass(frozen=True)
class Shipped(NodeObservation):
    """Everything of this node is stored."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class AgentLost(NodeObservation):
    """The agent's process is gone. `outcome` is what it had written to disk before, if anything."""

    words: str
    outcome: Optional[Outcome] = None
    signal: Optional[str] = None
    exit_code: Optional[int] = None
    last_lines: tuple[str, ...] = ()  # of the agent's own log
