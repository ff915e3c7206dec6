"""The nodes of one Ray cluster as last told by its bridge, and what they mean for a gang."""

from __future__ import annotations

import time
from typing import Any, Optional

from rookery.engine.engines.ray.admission import (
    Kind,
    Machine,
    Need,
    missing_words,
    most_that_fit,
    need_of,
    waiting_words,
)
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import RayOptions

__all__ = ["Machines"]

BACK_S = 900.0  # a node that died is waited for so long; then a gang that needs it can never be placed
_MANY = 1000  # nodes of an autoscaler that names no limit
_FIELDS = ("id", "name", "address", "alive", "resources", "free", "memory", "kind", "death", "scaled_as")


class Machines:
    """Not thread-safe: its engine has a lock. `patience_s` is how long raylets go on without their head."""

    def __init__(self, options: RayOptions) -> None:
        self._options = options
        self._is_strict = options.strategy == "strict_spread"
        self._all: dict[str, Machine] = {}
        self._died_at: dict[str, float] = {}
        self._kinds: tuple[Kind, ...] = ()
        self.patience_s = 60.0

    def take(self, word: dict[str, Any]) -> None:
        """What the bridge says: {"nodes", "scaler", "patience_s"}."""
        for data in word["nodes"]:
            machine = Machine(**{name: data[name] for name in _FIELDS if name in data})
            before = self._all.get(machine.id)
            if before is not None and before.alive and not machine.alive:
                self._died_at[machine.id] = time.monotonic()
            self._all[machine.id] = machine
        self._kinds = tuple(Kind(k["name"], k["resources"], k["max"], k.get("shared", -1)) for k in word["scaler"])
        self.patience_s = float(word["patience_s"])

    def alive(self) -> list[Machine]:
        return [m for m in self._all.values() if m.alive]

    def that_count(self) -> list[Machine]:
        """Those alive, and those that died a while ago and have not been replaced: they may come back. Not those of the
        autoscaler: it takes them away when nobody needs them, and what it may add counts already."""
        scaled = {kind.name for kind in self._kinds}
        alive, since = self.alive(), time.monotonic() - BACK_S
        there = {m.address for m in alive}
        dead = {
            m.address: m  # one per machine, however often it died
            for m in self._all.values()
            if not m.alive
            and m.address not in there
            and m.scaled_as not in scaled
            and self._died_at.get(m.id, -BACK_S) > since
        }
        return [*alive, *dead.values()]

    def id_of(self, name: str) -> str:
        """Ray's id of a node that is alive."""
        for machine in self.alive():
            if machine.name == name:
                return machine.id
        raise ComputeError(
            f"Node {name}, where its files lie, is not among the nodes that are alive in the Ray cluster."
        )

    def need(self, count: int, spec: ClusterSpec) -> Need:
        return need_of(spec, dict(self._options.resources), count, self.that_count(), self._kinds, self._is_strict)

    def num_addable(self, spec: ClusterSpec) -> int:
        """How many agents would have room on what the autoscaler may still add; those that say no size take a node each."""
        need = Need(spec.cpus_per_node or 0, spec.gpus_per_node or 0, dict(self._options.resources))
        return most_that_fit(need, (), self._kinds, _MANY, is_strict=not spec.cpus_per_node)

    def missing(self, need: Need, count: int) -> Optional[str]:
        """Why a gang can never be placed; None when it can."""
        return missing_words(need, count, self.that_count(), self._kinds, self._is_strict, self._options.address)

    def waiting(self, need: Need, count: int) -> str:
        return waiting_words(need, count, self.that_count(), self._kinds, self._is_strict)
