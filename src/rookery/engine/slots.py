"""Which cores and GPUs of the machine go with which node: the least used ones first, shared only when there
is no other way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Optional

from rookery.engine.engines.base import Capacity
from rookery.engine.outcome import Grant

__all__ = ["Slots", "gpus_per_node"]


class Slots:
    """The ledger of one machine. Not thread-safe: its owner holds the lock."""

    def __init__(self, capacity: Capacity) -> None:
        self.capacity = capacity
        self._held: dict[str, list[Grant]] = {}  # by run

    def take(self, run_id: str, node_ids: list[str], cpus_each: Optional[int], gpus_each: int) -> list[Grant]:
        """Cores and GPUs for a gang; its nodes divide the machine's cores among them unless a number is
        given."""
        each = cpus_each or max(1, len(self.capacity.cpus) // len(node_ids))
        grants = self._held.setdefault(run_id, [])
        for node_id in node_ids:
            cpus = _least_used(self.capacity.cpus, self._in_use("cpus"), each)
            gpus = _least_used(self.capacity.gpus, self._in_use("gpus"), gpus_each)
            grants.append(Grant(node_id, cpus, gpus))
        return list(grants)

    def retake(self, run_id: str, grants: Iterable[Grant]) -> None:
        self._held[run_id] = list(grants)

    def give_back(self, run_id: str) -> None:
        self._held.pop(run_id, None)

    def sharing(self, run_id: str, ignore: Iterable[str] = ()) -> list[str]:
        """Sentences about what this run shares with others; empty when it has its cores and GPUs to
        itself."""
        mine = self._held.get(run_id, [])
        left_out = {run_id, *ignore}
        words = []
        for kind, name in (("cpus", "cores"), ("gpus", "GPUs")):
            used = {n for g in mine for n in getattr(g, kind)}
            others = sorted(
                other
                for other, grants in self._held.items()
                if other not in left_out and any(used & set(getattr(g, kind)) for g in grants)
            )
            inside = sum(len(getattr(g, kind)) for g in mine) > len(used)
            if others or inside:
                whom = (
                    f"{len(others)} other run{'s' if len(others) > 1 else ''} ({_names(others)})"
                    if others
                    else "each other's nodes"
                )
                words.append(
                    f"This run shares {name} {_ranges(used)} of this machine with {whom}: it may be slower than alone."
                )
        return words

    def _in_use(self, kind: str) -> Counter[int]:
        return Counter(n for grants in self._held.values() for g in grants for n in getattr(g, kind))


def gpus_per_node(total: int, given: Optional[int], max_nodes: int) -> int:
    """What the target says, else the machine's GPUs divided among its nodes, at least one where there are
    any."""
    if given is not None:
        return min(given, total)
    return max(1, total // max(1, max_nodes)) if total else 0


def _least_used(numbers: tuple[int, ...], in_use: Counter[int], count: int) -> tuple[int, ...]:
    return tuple(sorted(sorted(numbers, key=lambda n: (in_use[n], n))[:count]))


def _names(runs: list[str]) -> str:
    return ", ".join(runs[:3]) + (f" and {len(runs) - 3} more" if len(runs) > 3 else "")


def _ranges(numbers: set[int]) -> str:
    """0-3,8 for {0, 1, 2, 3, 8}."""
    parts: list[list[int]] = []
    for n in sorted(numbers):
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
