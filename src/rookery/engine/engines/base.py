"""The seam between the controller and the machines."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Optional

from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.paths import NodePaths

__all__ = ["Capacity", "Death", "Engine", "NodeAnswer", "NodeInfo", "Place"]


@dataclass(frozen=True)
class Place:
    """One node's share of one attempt: where an agent runs or shall run. `root` is NodePaths.root, with
    job.json in it."""

    run_id: str
    attempt: int
    node: int
    root: str
    target: str = ""  # the compute target whose engine it is
    # What follows is no part of what a place is.
    on: str = field(
        default="", compare=False
    )  # NodeInfo.name of the one machine where it may run (what it ships lies only there); empty: any

    @property
    def paths(self) -> NodePaths:
        return NodePaths(self.root)


@dataclass(frozen=True)
class Death:
    """An agent's process is gone, or will never come. Exit code and signal are None where the engine cannot know them
    (adopted agents); `reason` is what the engine knows better: a whole sentence ("Node n1 is down: Slurm says …")."""

    place: Place
    exit_code: Optional[int] = None
    signal: Optional[str] = None
    reason: str = ""

    @property
    def words(self) -> str:
        if self.reason:
            return self.reason
        if self.signal:
            return f"The agent of node {self.place.node} was killed by {self.signal}."
        if self.exit_code is not None:
            return f"The agent of node {self.place.node} ended with exit code {self.exit_code}."
        return (
            f"The agent of node {self.place.node} is gone; how it ended is not known, because "
            "the keeper was restarted meanwhile."
        )


@dataclass(frozen=True)
class Capacity:
    """What the engine's machines have: core numbers and GPU indices (of this machine, for the embedded
    engine)."""

    cpus: tuple[int, ...]
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class NodeInfo:
    """A machine of an engine, as the engine itself sees it."""

    name: str
    address: str = ""
    state: str = "idle"  # idle | running | down | drained
    cpus: int = 0
    gpus: int = 0
    memory_bytes: int = 0
    free_cpus: int = 0
    free_gpus: int = 0
    detail: str = ""  # why it is down, what kind of machine it is


@dataclass(frozen=True)
class NodeAnswer:
    """What a program that `run_on_node` started has printed."""

    node: str
    exit_code: int
    output: str


class Engine(abc.ABC):
    """Places agents and notices dead ones. It knows nothing of runs' status, ranks, logs or environments.

    Promises:
    - `place` starts all agents of a gang or none: when it raises, none is left running and no death is told. It may
      return before they run (an engine with a queue of its own); what hinders them then is told as the death of each.
    - Agents outlive the engine: `stop`, or the death of this process, leaves them running.
    - Every agent that was placed or adopted and then ends is told to `on_death` once, soon (a second at
      most), from a
      thread of the engine; never from inside a call of the engine, and never after `stop` has returned.
    - A process id that has been reused is never taken for an agent, and never signalled.
    - `adopt` finds agents that an earlier engine placed, even one that died between starting an agent and
      telling anybody.
    - `kill` and `sweep` may be called for what is gone already, and any number of times.
    - Thread-safe. No call waits for an agent to do something.
    - `is_alive`, `waiting`, `machine` and `capacity` answer from what the engine knows already. The others may take their
      time on other machines: they are called from a thread of the target's own (attached.py), one after the other, except
      `nodes`, `check` and `run_on_node`, which come from any thread. `start` raises ComputeError where the engine cannot be
      used now; it is then made and started again later.
    """

    name = ""
    # Whether nodes are this very machine: its files, its loopback, its cores (which the controller then gives out).
    is_here = False
    # An engine that cannot see how its agents are: one that was there and has been silent for so long is killed, which is then
    # told as its death. 0: the engine notices deaths itself.
    lost_after_s = 0.0
    # Set before `start`: an engine that learns that a node will be taken away in some seconds (a time limit, a preemption by
    # the engine itself) calls it with the place, the seconds left and the engine's words. The run is then preempted as by
    # `rookery compute preempt`: it saves its work and is queued again.
    on_notice: Callable[[Place, float, str], None] = staticmethod(lambda place, grace_s, words: None)

    @abc.abstractmethod
    def start(self, on_death: Callable[[Death], None]) -> None:
        """Begin to watch."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Watch no more; agents are left alone."""

    @abc.abstractmethod
    def capacity(self) -> Optional[Capacity]:
        """What there is to give out, or None while it is being counted; `when_counted` then tells."""

    @abc.abstractmethod
    def when_counted(self, callback: Callable[[], None]) -> None:
        """Call back once the capacity is known (at once if it is)."""

    @abc.abstractmethod
    def check(self, node_count: int, spec: ClusterSpec) -> None:
        """Refuse what this engine's machines can never hold.

        Raises:
            ComputeError: names what was asked for and what would fit.
        """

    @abc.abstractmethod
    def place(self, gang: Sequence[Place]) -> None:
        """Start one agent per place, each with the job.json that lies there.

        Raises:
            ComputeError: it could not; says why.
        """

    @abc.abstractmethod
    def adopt(self, places: Iterable[Place]) -> set[Place]:
        """Those of the places whose agent is alive; they are watched from now on."""

    @abc.abstractmethod
    def is_alive(self, place: Place) -> bool:
        """Whether the agent of a place that is being watched still runs."""

    @abc.abstractmethod
    def kill(self, place: Place) -> None:
        """End the agent of a place by force. Its death is told like any other."""

    @abc.abstractmethod
    def sweep(self, place: Place) -> list[int]:
        """Kill what a dead agent has left running of its node's ranks; the process ids that were killed."""

    def waiting(self, place: Place) -> str:
        """What the placement of an agent waits for in the engine's own queue ("Slurm job 17 is pending: Resources");
        empty when it waits for nothing there. Never blocks."""
        return ""

    def machine(self, place: Place) -> str:
        """NodeInfo.name of the machine that an agent was given; empty while it waits, or where it is not known."""
        return ""

    def nodes(self) -> list[NodeInfo]:
        """The engine's machines now. May ask the engine, so not for the controller's thread.

        Raises:
            ComputeError: the engine does not answer; says what was tried.
        """
        return []

    def num_addable(self) -> int:
        """How many agents more than on `nodes` would have room on machines that the engine can add by itself when they are
        placed (a cluster that scales). Never blocks."""
        return 0

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        """Run a small Python program (source text, on standard input of the node's Python) on one node and wait for it:
        how a target is checked from the other side.

        Raises:
            ComputeError: it could not be run; says why.
        """
        raise ComputeError(f"The engine '{self.name}' cannot run a program on a node.")
