"""What a gang needs of a Ray cluster, whether it can ever have it, and what it waits for. Pure.

Ray itself leaves a request that can never be met pending without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

from rookery.spec.compute import ClusterSpec

__all__ = ["Kind", "Machine", "Need", "missing_words", "most_that_fit", "need_of", "waiting_words"]


@dataclass(frozen=True)
class Machine:
    """A node of the cluster as Ray has it."""

    id: str
    name: str
    address: str = ""
    alive: bool = True
    resources: dict[str, float] = field(default_factory=dict)  # CPU, GPU and Ray's own names
    free: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    kind: str = ""
    death: str = ""
    scaled_as: str = ""  # the kind of node as which the autoscaler brought it

    @property
    def cpus(self) -> int:
        return int(self.resources.get("CPU", 0))

    @property
    def gpus(self) -> int:
        return int(self.resources.get("GPU", 0))


@dataclass(frozen=True)
class Kind:
    """A kind of node that the cluster's autoscaler may still add; `most` of it, and `shared` of all kinds together (-1: it
    names no limit)."""

    name: str
    resources: dict[str, float]
    most: int
    shared: int = -1


@dataclass(frozen=True)
class Need:
    """What one agent reserves on its node."""

    cpus: float
    gpus: float = 0
    resources: dict[str, float] = field(default_factory=dict)

    @property
    def words(self) -> str:
        parts = [_count(self.cpus, "CPU")] if self.cpus else []
        parts += [_count(self.gpus, "GPU")] if self.gpus else []
        parts += [f"{amount:g} {name}" for name, amount in sorted(self.resources.items())]
        return " and ".join(parts) or "nothing reserved"


def need_of(
    spec: ClusterSpec,
    extra: dict[str, float],
    count: int,
    machines: Sequence[Machine],
    kinds: Sequence[Kind],
    is_strict: bool,
) -> Need:
    """What each agent of a gang reserves. Where the target does not say: whole nodes, as many cores and GPUs as the `count`
    best ones have each."""
    if spec.cpus_per_node is not None and spec.gpus_per_node is not None:
        return Need(spec.cpus_per_node, spec.gpus_per_node, extra)
    least_gpus, least_cpus = spec.gpus_per_node or 0, spec.cpus_per_node or 1
    able = [m.resources for m in machines] + [k.resources for k in kinds for _ in range(_most(k, count))]
    able = [r for r in able if r.get("CPU", 0) >= least_cpus and r.get("GPU", 0) >= least_gpus and _has(r, extra)]
    able.sort(key=lambda r: (-r.get("GPU", 0), -r.get("CPU", 0)))
    if not able:
        return Need(least_cpus, least_gpus, extra)
    share = 1 if is_strict else -(-count // len(able))  # agents that share a machine
    chosen = able[:count]
    cpus = max(1, int(min(r["CPU"] for r in chosen)) // share)
    gpus = int(min(r.get("GPU", 0) for r in chosen)) // share
    return Need(
        cpus if spec.cpus_per_node is None else spec.cpus_per_node,
        gpus if spec.gpus_per_node is None else spec.gpus_per_node,
        extra,
    )


def most_that_fit(need: Need, machines: Sequence[Machine], kinds: Sequence[Kind], count: int, is_strict: bool) -> int:
    """How many agents of this size the cluster could hold with nothing else on it (counted up to `count` per kind)."""

    def fit(resources: dict[str, float]) -> int:
        return _fit(need, resources, 1 if is_strict else count)

    total = sum(fit(m.resources) for m in machines)
    left = min((k.shared for k in kinds if k.shared >= 0), default=count)
    for kind in sorted(kinds, key=lambda k: -fit(k.resources)):
        num = min(left, _most(kind, count))
        total, left = total + num * fit(kind.resources), left - num
    return total


def missing_words(
    need: Need, count: int, machines: Sequence[Machine], kinds: Sequence[Kind], is_strict: bool, where: str
) -> Optional[str]:
    """Why a gang can never be placed; None when it can (now or when others have left)."""
    most = most_that_fit(need, machines, kinds, count, is_strict)
    if most >= count:
        return None
    there = ", ".join(f"{m.name}: {_has_words(m.resources)}" for m in machines) or "no nodes"
    scaled = f"; its autoscaler adds up to {_kinds_words(kinds)}" if _adds(kinds) else ""
    nodes = "node was" if count == 1 else "nodes were"
    machine = " on machines of their own" if is_strict and count > 1 else ""
    return (
        f"{count} {nodes} requested with {need.words} each{machine}, but the Ray cluster at {where} has {there}{scaled}. "
        f"At most {most} fit. Ask for fewer nodes, or for less per node (cpus_per_node, gpus_per_node of the target)."
    )


def waiting_words(need: Need, count: int, machines: Sequence[Machine], kinds: Sequence[Kind], is_strict: bool) -> str:
    """What a gang that fits in principle waits for."""
    alive = [m for m in machines if m.alive]
    if sum(min(1, n) if is_strict else n for n in (_fit(need, m.free, count) for m in alive)) >= count:
        return f"Ray is reserving {count} x {need.words}"
    names = [*(["CPU"] if need.cpus else []), *(["GPU"] if need.gpus else []), *sorted(need.resources)]
    free = ", ".join(
        f"{m.name} " + " and ".join(f"{m.free.get(n, 0):g} of {m.resources.get(n, 0):g} {n}" for n in names)
        for m in alive
    )
    words = f"Ray has no room yet for {count} x {need.words}; free are {free or 'no nodes'}"
    possible = most_that_fit(need, alive, (), count, is_strict)
    dead = [m.name for m in machines if not m.alive]
    if possible < count and _adds(kinds):
        words += f"; Ray's autoscaler was asked for more nodes ({_kinds_words(kinds)})"
    elif possible < count and dead:
        words += f"; {', '.join(dead)} must come back first (dead now)"
    return words


def _fit(need: Need, resources: dict[str, float], count: int) -> int:
    wanted = {"CPU": need.cpus, "GPU": need.gpus, **need.resources}
    rooms = [int(resources.get(name, 0) // amount) for name, amount in wanted.items() if amount]
    return min([count, *rooms])


def _has(resources: dict[str, float], wanted: dict[str, float]) -> bool:
    return all(resources.get(name, 0) >= amount for name, amount in wanted.items())


def _most(kind: Kind, count: int) -> int:
    return count if kind.most < 0 else min(kind.most, count)


def _adds(kinds: Sequence[Kind]) -> bool:
    return any(k.most and k.shared for k in kinds)


def _kinds_words(kinds: Sequence[Kind]) -> str:
    words = ", ".join(
        f"{'any number' if k.most < 0 else k.most} x {k.name} ({_has_words(k.resources)})" for k in kinds if k.most
    )
    shared = min((k.shared for k in kinds if k.shared >= 0), default=None)
    is_less = shared is not None and (any(k.most < 0 for k in kinds) or sum(k.most for k in kinds) > shared)
    return f"{words}, {shared} in all" if is_less else words


def _has_words(resources: dict[str, float]) -> str:
    gpus = resources.get("GPU", 0)
    return _count(resources.get("CPU", 0), "CPU") + (f", {_count(gpus, 'GPU')}" if gpus else "")


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}" if number == 1 else f"{number:g} {what}s"
