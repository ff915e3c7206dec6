"""What the lifecycle wants done. Values only; the controller does them, after the step is stored. All can be
repeated."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Action",
    "AdoptAgents",
    "End",
    "Enqueue",
    "KillAgent",
    "LeaveQueue",
    "PlaceAgents",
    "PrepareEnvironment",
    "ReleaseNodes",
    "SendCancel",
    "SendPreempt",
    "StartFinisher",
    "SweepLeftovers",
    "Warn",
]


@dataclass(frozen=True)
class Action:
    """Something to do for a run."""


@dataclass(frozen=True)
class PrepareEnvironment(Action):
    """Get its software ready; answered by EnvironmentReady or EnvironmentFailed."""


@dataclass(frozen=True)
class Enqueue(Action):
    """Let it wait for nodes; answered by Waiting, Scaling and NodesGranted. `again`: it waited before a restart, and has a reason
    already, which is renewed in its turn."""

    again: bool = False


@dataclass(frozen=True)
class LeaveQueue(Action):
    """It no longer wants nodes."""


@dataclass(frozen=True)
class PlaceAgents(Action):
    """Start one agent per node; where one is alive already it is left alone."""

    attempt: int


@dataclass(frozen=True)
class AdoptAgents(Action):
    """Find the agents of an attempt again. `launch`: start one that was never started."""

    attempt: int
    launch: bool


@dataclass(frozen=True)
class SendCancel(Action):
    """Tell every agent of the attempt to stop its ranks."""

    attempt: int


@dataclass(frozen=True)
class SendPreempt(Action):
    """Tell every agent of the attempt that a node is taken away: all ranks stop together and save their work."""

    attempt: int


@dataclass(frozen=True)
class KillAgent(Action):
    """End an agent that did not stop when it was told to."""

    attempt: int
    node: int


@dataclass(frozen=True)
class SweepLeftovers(Action):
    """Kill what a dead agent has left running."""

    attempt: int
    node: int


@dataclass(frozen=True)
class StartFinisher(Action):
    """Start an agent in mode 'finish': it ships what the dead one has left on disk."""

    attempt: int
    node: int


@dataclass(frozen=True)
class ReleaseNodes(Action):
    """Give its nodes back to the target."""


@dataclass(frozen=True)
class Warn(Action):
    """Keep a warning with the run; stored together with the step."""

    text: str


@dataclass(frozen=True)
class End(Action):
    """The run has ended; nothing more happens to it."""
