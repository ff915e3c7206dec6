"""An engine over machines that exist only in memory (fake_cluster.py). It keeps the promises of Engine and sits its exam."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.testing.fake_cluster import FakeCluster

__all__ = ["FakeEngine"]


class FakeEngine(Engine):
    """Agents take one core of a machine each, or `cpus`."""

    name = "fake"

    def __init__(self, cluster: FakeCluster, cpus: int = 1) -> None:
        self.cluster = cluster
        self._cpus = cpus
        self._watched: set[Place] = set()
        self._deaths: queue.SimpleQueue[Optional[Death]] = queue.SimpleQueue()
        self._unwatch: Callable[[], None] = lambda: None
        self._on_death: Callable[[Death], None] = lambda death: None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._tell, name="fake-engine", daemon=True)

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._ask()
        self._on_death = on_death
        self._unwatch = self.cluster.watch(self._ended)
        self._thread.start()

    def stop(self) -> None:
        unwatch, self._unwatch = self._unwatch, lambda: None
        unwatch()
        self._deaths.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def capacity(self) -> Optional[Capacity]:
        return Capacity((), ())

    def when_counted(self, callback: Callable[[], None]) -> None:
        callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        machines = self.cluster.census()
        if node_count > len(machines):
            raise ComputeError(f"{node_count} nodes were requested, but at most {len(machines)} machines are there.")
        largest = max(n.cpus for n in machines)
        if spec.cpus_per_node is not None and spec.cpus_per_node > largest:
            raise ComputeError(f"cpus_per_node={spec.cpus_per_node}, but machines have at most {largest} cores.")

    def place(self, gang: Sequence[Place]) -> None:
        self._ask()
        if len(gang) > len(self.cluster.machines):
            raise ComputeError(f"{len(gang)} nodes were requested, but at most {len(self.cluster.machines)} fit.")
        with self._lock:
            self._watched.update(gang)
        self.cluster.submit(gang, self._cpus)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        self._ask()
        found = {p for p in places if self.is_alive(p)}
        with self._lock:
            self._watched |= found
        return found

    def is_alive(self, place: Place) -> bool:
        agent = self.cluster.find(place)
        return (agent is not None and agent.is_alive) or self.cluster.waits(place)

    def kill(self, place: Place) -> None:
        self.cluster.end(place, signal="SIGKILL")

    def sweep(self, place: Place) -> list[int]:
        self.cluster.sweep(place)
        return []

    def waiting(self, place: Place) -> str:
        agent = self.cluster.find(place)
        return f"no machine is free for node {place.node}" if agent is None and self.cluster.waits(place) else ""

    def machine(self, place: Place) -> str:
        agent = self.cluster.find(place)
        return agent.machine if agent is not None else ""

    def nodes(self) -> list[NodeInfo]:
        self._ask()
        return self.cluster.census()

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        """In a process of this machine, in the name of the first one that is up."""
        self._ask()
        name = next((m.name for m in self.cluster.machines.values() if m.is_up), "")
        try:
            answer = subprocess.run(
                [sys.executable, "-I", "-"],
                input=program,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ComputeError(f"A program on {name} did not end within {timeout_s:g} s.") from error
        return NodeAnswer(name, answer.returncode, answer.stdout)

    def _ask(self) -> None:
        if self.cluster.is_away:
            raise ComputeError("The head of the fake cluster does not answer.")

    def _ended(self, place: Place, exit_code: Optional[int], signal: Optional[str], reason: str) -> None:
        with self._lock:
            if place not in self._watched:
                return
            self._watched.discard(place)
        self._deaths.put(Death(place, exit_code, signal, reason))

    def _tell(self) -> None:
        while True:
            death = self._deaths.get()
            if death is None:
                return
            self._on_death(death)
