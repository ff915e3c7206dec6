"""Agents that clients start themselves, beside their own process, on machines that the keeper does not see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from rookery.engine.engines.base import Capacity, Death, Engine, Place
from rookery.spec.compute import ClusterSpec

__all__ = ["VISITORS", "VisitorsEngine"]

VISITORS = "@visitors"  # the target of their places; no compute target can be called so


class VisitorsEngine(Engine):
    """For `start_logging()` against a server: the SDK fetches the job and starts the agent (sdk/visiting.py), which reaches the
    keeper as its client does. Nothing is placed and nothing can be seen from here: an agent is there while it is heard of."""

    name = "visitors"

    def __init__(self, lost_after_s: float) -> None:
        self.lost_after_s = lost_after_s
        self._on_death: Callable[[Death], None] = lambda death: None
        self._lock = threading.Lock()
        self._known: set[Place] = set()

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death

    def stop(self) -> None:
        self._on_death = lambda death: None

    def capacity(self) -> Optional[Capacity]:
        return Capacity((), ())

    def when_counted(self, callback: Callable[[], None]) -> None:
        callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        """Visitors bring their machine."""

    def place(self, gang: Sequence[Place]) -> None:
        with self._lock:
            self._known.update(gang)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        """All of them: nobody has said otherwise, and silence will tell."""
        found = set(places)
        with self._lock:
            self._known.update(found)
        return found

    def is_alive(self, place: Place) -> bool:
        with self._lock:
            return place in self._known

    def kill(self, place: Place) -> None:
        """Given up: it is told as dead, and refused when it comes after all."""
        with self._lock:
            if place not in self._known:
                return
            self._known.discard(place)
        reason = "Nothing has been heard any more of the agent that watched the process on its own machine."
        # Never from inside a call of the engine.
        threading.Thread(target=self._on_death, args=(Death(place, reason=reason),), daemon=True).start()

    def sweep(self, place: Place) -> list[int]:
        return []
