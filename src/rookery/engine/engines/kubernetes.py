"""Runs that are exported as manifests of Kubernetes: their agents are started by whoever applies them, and come by themselves."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from rookery.engine.engines.base import Capacity, Death, Engine, NodeInfo, Place
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import KubernetesOptions, read_options

__all__ = ["KubernetesEngine"]

WAITING = "exported for Kubernetes; waiting for its agents (`rookery export RUN` gives its manifests)"


class KubernetesEngine(Engine):
    """See Engine for the promises. Nothing here talks to a cluster, so nothing is known of pods but what their agents tell the
    keeper: a place is taken as alive until it is killed here. A pod that is given up finds its attempt over, and leaves.

    It keeps nothing on disk: manifests, with the tokens in them, are made anew whenever they are asked for (exporting.py).
    """

    name = "kubernetes"

    def __init__(self, name: str, spec: ClusterSpec, boot: Callable[[Sequence[Place]], str], state_folder: str) -> None:
        options = read_options("kubernetes", spec.options)
        assert isinstance(options, KubernetesOptions)
        self.lost_after_s = float(options.lost_after_s)
        self._name = name
        self._lock = threading.Lock()
        self._given_up: set[Place] = set()
        self._on_death: Callable[[Death], None] = lambda death: None
        self._deaths: queue.SimpleQueue[Optional[Death]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._tell, name=f"rookery-{name}-tell", daemon=True)

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death
        self._thread.start()

    def stop(self) -> None:
        self._deaths.put(None)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(10)

    def capacity(self) -> Optional[Capacity]:
        return Capacity((), ())

    def when_counted(self, callback: Callable[[], None]) -> None:
        callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        """How much a cluster has is its own affair."""

    def nodes(self) -> list[NodeInfo]:
        """Its machines are not known here."""
        return []

    def place(self, gang: Sequence[Place]) -> None:
        if gang[0].on:
            raise ComputeError(f"'{self._name}' cannot send an agent to {gang[0].on}: a pod's files go with the pod.")
        with self._lock:
            self._given_up.difference_update(gang)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        return {place for place in places if self.is_alive(place)}

    def is_alive(self, place: Place) -> bool:
        return place not in self._given_up

    def kill(self, place: Place) -> None:
        with self._lock:
            if place in self._given_up:
                return
            self._given_up.add(place)
        self._deaths.put(Death(place, reason=f"The pod of node {place.node} was given up: its agent did not answer."))

    def sweep(self, place: Place) -> list[int]:
        """What a pod leaves goes with the pod."""
        return []

    def waiting(self, place: Place) -> str:
        """Asked only of agents that have not said hello."""
        return WAITING if self.is_alive(place) else ""

    def _tell(self) -> None:
        while (death := self._deaths.get()) is not None:
            self._on_death(death)
