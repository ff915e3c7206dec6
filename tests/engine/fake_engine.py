"""An engine that behaves like one and starts nothing: tests play its agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from rookery.engine.engines.base import Capacity, Death, Engine, Place
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec


class FakeEngine(Engine):
    name = "fake"

    def __init__(self, cpus: int = 4, gpus: int = 0) -> None:
        self._capacity: Optional[Capacity] = Capacity(tuple(range(cpus)), tuple(range(gpus)))
        self._counted: list[Callable[[], None]] = []
        self.alive: set[Place] = set()
        self.placed: list[Place] = []
        self.killed: list[Place] = []
        self.swept: list[Place] = []
        self.broken = ""
        self._on_death: Callable[[Death], None] = lambda death: None

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death

    def stop(self) -> None:
        self._on_death = lambda death: None

    def capacity(self) -> Optional[Capacity]:
        return self._capacity

    def count_later(self) -> Callable[[], None]:
        """Behave as a machine whose GPUs are still being counted, until the function returned is called."""
        known, self._capacity = self._capacity, None

        def counted() -> None:
            self._capacity = known
            for callback in self._counted:
                callback()

        return counted

    def when_counted(self, callback: Callable[[], None]) -> None:
        if self._capacity is None:
            self._counted.append(callback)
        else:
            callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        if node_count > spec.max_nodes:
            raise ComputeError(f"At most {spec.max_nodes} fit.")

    def place(self, gang: Sequence[Place]) -> None:
        if self.broken:
            raise ComputeError(self.broken)
        self.placed += gang
        self.alive |= set(gang)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        return set(places) & self.alive

    def is_alive(self, place: Place) -> bool:
        return place in self.alive

    def kill(self, place: Place) -> None:
        self.killed.append(place)
        self.die(place, signal="SIGKILL")

    def sweep(self, place: Place) -> list[int]:
        self.swept.append(place)
        return []

    def die(self, place: Place, exit_code: Optional[int] = None, signal: Optional[str] = None) -> None:
        """The agent of a place ends, by itself or not."""
        if place in self.alive:
            self.alive.discard(place)
            self._on_death(Death(place, exit_code, signal))
