"""Which machine an agent goes to, and what of it is the agent's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Optional

from rookery.engine.engines.base import Place
from rookery.engine.engines.ssh.placements import Placement
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec

__all__ = ["Room"]

Facts = Mapping[str, Any]


class Room:
    """The machines of a target as slots. Pure, but for what it was made with."""

    def __init__(self, spec: ClusterSpec, slots: int, machines: Sequence[str]) -> None:
        self._spec, self._slots, self._machines = spec, slots, tuple(machines)
        self._names = ", ".join(machines)

    def check(self, node_count: int, spec: ClusterSpec, facts: Mapping[str, Optional[Facts]]) -> None:
        """Refuse what can never fit. Machines that have not been seen yet may have anything."""
        there = len(self._machines) * self._slots
        most = min(there, spec.max_nodes or there)
        if node_count > most:
            raise ComputeError(
                f"{node_count} nodes were requested, but at most {most} fit: {len(self._machines)} machines with "
                f"{self._slots} each, max_nodes={spec.max_nodes}."
            )
        known = [f for f in facts.values() if f]
        if len(known) < len(self._machines) or not known:
            return
        for name, word, wanted in (
            ("cpus_per_node", "cores", spec.cpus_per_node),
            ("gpus_per_node", "GPUs", spec.gpus_per_node),
        ):
            there = max(f[name.split("_")[0]] for f in known)
            if wanted and wanted > there:
                raise ComputeError(f"{name}={wanted}, but the machines have {there} {word}. At most {there} fit.")

    def choose(
        self, gang: Sequence[Place], before: Mapping[Place, str], live: Sequence[Placement], away: Collection[str] = ()
    ) -> list[tuple[Place, str, int]]:
        """A machine and slot for each of a gang: where it was before (its files are there), else the emptiest that answers;
        one that is `away` only where all others are in use.

        Raises:
            ComputeError: the gang is larger than all slots together, or wants a machine that is not there.
        """
        most = len(self._machines) * self._slots
        if len(gang) > most:
            raise ComputeError(
                f"{len(gang)} nodes were to be started together, but at most {most} fit: {len(self._machines)} machines "
                f"with {self._slots} each."
            )
        taken = Counter(p.machine for p in live)
        slots = {(p.machine, p.slot) for p in live}
        own: Counter[str] = Counter()
        chosen = []
        for place in gang:
            machine = place.on or before.get(place)
            if place.on and place.on not in self._machines:
                raise ComputeError(f"{place.on} is no machine of this target any more. Its machines: {self._names}.")
            if machine not in self._machines:
                machine = min(self._machines, key=lambda m: (own[m], taken[m] >= self._slots, m in away, taken[m]))
            free = [i for i in range(self._slots) if (machine, i) not in slots]
            slot = free[0] if free else 0
            taken[machine] += 1
            own[machine] += 1
            slots.add((machine, slot))
            chosen.append((place, machine, slot))
        return chosen

    def share(self, facts: Facts) -> tuple[int, int]:
        """Cores and GPUs of one slot."""
        cpus = max(1, facts["cpus"] // self._slots)
        gpus = facts["gpus"] // self._slots
        spec = self._spec
        return (
            cpus if spec.cpus_per_node is None else min(spec.cpus_per_node, facts["cpus"]),
            gpus if spec.gpus_per_node is None else min(spec.gpus_per_node, facts["gpus"]),
        )

    def variables(self, one: Placement, facts: Facts) -> dict[str, str]:
        """What an agent is told about its node."""
        cpus, gpus = self.share(facts)
        variables = {
            "ROOKERY_NODE": str(one.node),
            "ROOKERY_NODE_NAME": one.machine,
            "ROOKERY_NODE_CPUS": str(cpus),
        }
        address = facts.get("address", "")
        # Through a forwarded port it looks like loopback, which only reaches the others of the same machine.
        if address and (not address.startswith(("127.", "::1")) or len(self._machines) == 1):
            variables["ROOKERY_NODE_ADDRESS"] = address
        if facts["gpus"] and (self._slots > 1 or self._spec.gpus_per_node is not None):
            first = one.slot * gpus
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(str(i) for i in range(first, min(first + gpus, facts["gpus"])))
        return variables
