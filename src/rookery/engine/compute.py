"""All compute targets of a workspace: created, resized, listed, and their nodes given to runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rookery.engine.compute_words import choose_node, show_target, slots_of
from rookery.engine.engines.base import Capacity
from rookery.engine.engines.registry import Engines
from rookery.engine.machine import list_cpus
from rookery.engine.outcome import Grant
from rookery.engine.queue import Node, Request, Target
from rookery.engine.slots import Slots, gpus_per_node
from rookery.errors import ComputeError, ComputeNotFoundError, ConflictError
from rookery.record.clock import utc_now
from rookery.spec.compute import LOCAL, LOW_PRIORITY, ClusterSpec, check_cluster_spec
from rookery.spec.engine_options import EMBEDDED, SlurmOptions, read_options
from rookery.spec.names import check_compute_name
from rookery.spec.plain import from_plain, to_plain

__all__ = ["Computes", "Granted"]

_CHANGEABLE = ("min_nodes", "max_nodes", "idle_seconds_before_scaledown", "tags", "description")
HEAD, MORE = 50, 150  # of a long queue: how many reasons are looked at in one tick, the first ones always


@dataclass(frozen=True)
class Granted:
    """A run has got its nodes. `scaling` says that some had to be brought up, and is empty otherwise."""

    run_id: str
    grants: tuple[Grant, ...]
    scaling: str = ""
    warnings: tuple[str, ...] = ()


class Computes:
    """The targets and the ledger of this machine's cores and GPUs, behind one short lock.

    What a person decides (names, sizes) is stored in the record; which nodes are up is not: after a restart a
    target has its
    minimum, plus what running runs hold.
    """

    def __init__(
        self,
        record: Any,
        engines: Engines,
        local_slots: int,
        clock: Callable[[], float] = time.monotonic,
        low_priority_retries: int = 3,
    ) -> None:
        self._record = record
        self._low_priority_retries = low_priority_retries
        self._engines = engines
        self._clock = clock
        self._lock = threading.Lock()
        self._slots: Slots | None = None
        self._rows: dict[str, dict[str, Any]] = {}
        self._targets: dict[str, Target] = {}
        self._where: dict[str, str] = {}  # the target where a run waits or holds nodes
        started = utc_now()
        slots = local_slots or len(self.capacity_or_cpus().cpus)
        local = ClusterSpec(
            min_nodes=slots, max_nodes=slots, idle_seconds_before_scaledown=0, description="This machine"
        )
        self._add(LOCAL, local, {"created_utc": started, "modified_utc": started})
        for row in record.compute.list():
            spec = from_plain(ClusterSpec, row["spec"])
            self._add(row["name"], spec, row)
            engines.attach(row["name"], spec)

    def capacity_or_cpus(self) -> Capacity:
        """What the machine has; while its GPUs are being counted, without them."""
        return self._engines.here.capacity() or Capacity(list_cpus(), ())

    # -- what people do --------------------------------------------------------------------------------------

    def check_new(self, name: str, spec: ClusterSpec) -> None:
        """Raise for a target that cannot be created."""
        check_compute_name(name)
        self._check_spec(spec)
        with self._lock:
            if name in self._targets:
                raise ConflictError(f"Compute target '{name}' exists already. Update it, or choose another name.")

    def create(self, name: str, spec: ClusterSpec, held: str = "") -> dict[str, Any]:
        """`held`: why no run may have its nodes yet."""
        self.check_new(name, spec)
        with self._lock:
            if name in self._targets:
                raise ConflictError(f"Compute target '{name}' exists already. Update it, or choose another name.")
            self._record.compute.put(name, to_plain(spec))
            self._add(name, spec, self._record.compute.get(name))
        self._engines.attach(name, spec, held)
        self.count_again(name)
        return self.get(name)

    def replace_spec(self, name: str, spec: ClusterSpec) -> dict[str, Any]:
        """Keep what was found out about a target (its reach)."""
        with self._lock:
            target = self._get(name)
            self._record.compute.put(name, to_plain(spec))
            self._rows[name] = self._record.compute.get(name)
            target.resize(spec, self._clock(), utc_now())
            return self._json(name)

    def update(self, name: str, changes: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(changes) - set(_CHANGEABLE))
        if unknown:
            raise ComputeError(
                f"Compute target '{name}': {', '.join(unknown)} cannot be changed. Changeable: "
                f"{', '.join(_CHANGEABLE)}."
            )
        with self._lock:
            target = self._get(name)
            if target.is_local:
                raise ComputeError(
                    "The target 'local' has a fixed size: set the setting local_slots (ROOKERY_LOCAL_SLOTS) instead."
                )
            given = {k: v for k, v in changes.items() if v is not None}
            spec = from_plain(ClusterSpec, {**to_plain(target.spec), **given})
            self._check_spec(spec)
            self._record.compute.put(name, to_plain(spec))
            self._rows[name] = self._record.compute.get(name)
            target.resize(spec, self._clock(), utc_now())
        self.count_again(name)
        return self.get(name)

    def delete(self, name: str) -> None:
        with self._lock:
            target = self._get(name)
            if target.is_local:
                raise ComputeError("The target 'local' is this machine and cannot be deleted.")
            busy = target.running_runs + [r.run_id for r in target.line]
            if busy:
                raise ConflictError(
                    f"Compute target '{name}' has {len(busy)} runs ({', '.join(busy[:5])}). Cancel "
                    "them or wait for them first."
                )
            self._record.compute.delete(name)
            del self._targets[name], self._rows[name]
        self._engines.detach(name)

    def get(self, name: str) -> dict[str, Any]:
        with self._lock:
            self._get(name)
            return self._json(name)

    def all(self) -> list[dict[str, Any]]:
        with self._lock:
            return [self._json(name) for name in self._targets]

    def nodes(self, name: str) -> list[Node]:
        """Copies, for looking at."""
        with self._lock:
            return [Node(**vars(node)) for node in self._get(name).nodes.values()]

    def spec(self, name: str) -> ClusterSpec:
        with self._lock:
            return self._get(name).spec

    def find_spec(self, name: str) -> ClusterSpec | None:
        with self._lock:
            target = self._targets.get(name)
            return target.spec if target else None

    def names(self) -> list[str]:
        with self._lock:
            return list(self._targets)

    def queued(self) -> int:
        with self._lock:
            return sum(len(t.line) for t in self._targets.values())

    def lost_retries(self, name: str) -> int:
        """How often a run that does not say is tried again after a lost node: v1 queued runs of low-priority clusters
        again by itself."""
        with self._lock:
            target = self._targets.get(name)
            return self._low_priority_retries if target and _is_requeued(target.spec) else 0

    def preempt(self, name: str, node_id: str | None, away_s: float, force: bool) -> tuple[str, str | None]:
        """Take a node away; without a name one that runs something, else an idle one. (its id, the run that holds it)

        Raises:
            ComputeError: the target is not of low priority (and no force), or has no such node.
        """
        with self._lock:
            target = self._get(name)
            node = choose_node(target, node_id, force)
            target.preempt(node.id, away_s, self._clock(), utc_now())
            return node.id, node.run_id

    # -- what the controller does ----------------------------------------------------------------------------

    def ask(self, name: str, request: Request) -> None:
        """Let a run wait. ComputeNotFoundError when the target has gone meanwhile."""
        with self._lock:
            self._get(name).ask(request)
            self._where[request.run_id] = name

    def leave(self, run_id: str) -> None:
        with self._lock:
            target = self._targets.get(self._where.get(run_id, ""))
            if target is not None:
                target.leave(run_id)
                if not target.held_by(run_id):
                    del self._where[run_id]

    def count_again(self, name: str) -> None:
        """The machines of a target may have changed: its size follows them where it was left open."""
        with self._lock:
            target = self._targets.get(name)
            if target is not None and target.is_remote and not target.spec.max_nodes:
                there = slots_of(self._engines.census(name), target.spec)
                target.set_size(there + self._engines.num_addable(name))

    def retake(self, name: str, run_id: str, grants: Iterable[Grant]) -> None:
        """After a restart: a run that was found still holds these."""
        grants = tuple(grants)
        with self._lock:
            target = self._targets.get(name)
            if target is None:
                return  # deleted by hand; the run ends by itself
            if not target.is_remote:
                self._ledger().retake(run_id, grants)
            self._where[run_id] = name
            nodes = target.retake(run_id, [g.id for g in grants], self._clock(), utc_now())
            for node, grant in zip(nodes, grants):
                node.cpus, node.gpus = grant.cpus, grant.gpus

    def release(self, run_id: str) -> None:
        with self._lock:
            if self._slots:
                self._slots.give_back(run_id)
            target = self._targets.get(self._where.pop(run_id, ""))
            if target is not None:
                target.leave(run_id)
                target.give_back(run_id, self._clock(), utc_now())

    def grant(self, parents: Callable[[str], Iterable[str]] = lambda run_id: ()) -> list[Granted]:
        """Give out what can be given out now, in order."""
        with self._lock:
            here = self._engines.here.capacity() is not None
            return [
                granted
                for target in self._targets.values()
                if (not self._engines.problem(target.name) if target.is_remote else here)
                for granted in self._grant_from(target, parents)
            ]

    def waiting(self) -> list[tuple[str, str]]:
        """Waiting runs with their present reasons: all of a short queue, of a long one its beginning and then some more, others
        each time."""
        with self._lock:
            return [
                (request.run_id, self._reason(target, request, position))
                for target in self._targets.values()
                for request, position in (target.line.look(HEAD, MORE) if target.line else ())
            ]

    def reason(self, run_id: str) -> str:
        """Why a run waits; empty when it does not."""
        with self._lock:
            target = self._targets.get(self._where.get(run_id, ""))
            request = target.line.get(run_id) if target is not None else None
            if target is None or request is None:
                return ""
            return self._reason(target, request, target.line.position(run_id))

    def scale_down(self) -> list[str]:
        """Let idle nodes go, and forget those that were preempted long enough ago; the targets that changed."""
        with self._lock:
            now, changed = self._clock(), []
            for target in self._targets.values():
                went = not target.is_local and target.scale_down(now)
                if target.bring_back(now, utc_now()) or went:
                    changed.append(target.name)
            return changed

    def next_change(self) -> float | None:
        """When to look again, on the clock given."""
        with self._lock:
            now = self._clock()
            times = [t.next_change(now) for t in self._targets.values() if not t.is_local]
            return min((t for t in times if t is not None), default=None)

    # -- inside ----------------------------------------------------------------------------------------------

    def _reason(self, target: Target, request: Request, position: int) -> str:
        if target.is_remote:
            problem = self._engines.problem(target.name)
            if problem:
                return f"waits for '{target.name}', which cannot be used now: {problem}"
        elif self._engines.here.capacity() is None:
            return "waits until the GPUs of this machine are counted"
        return target.reason(request, position)

    def _grant_from(self, target: Target, parents: Callable[[str], Iterable[str]]) -> Iterable[Granted]:
        while True:
            wish = target.next_wish(self._clock())
            if wish is None:
                return
            before = len(target.nodes)
            nodes = target.take(wish, self._clock(), utc_now())
            run_id = wish.request.run_id
            warnings: list[str] = []
            if target.is_remote:  # which cores and GPUs go with a node is the engine's to say
                grants = [Grant(n.id) for n in nodes]
            else:
                grants = self._grant_here(target, run_id, nodes)
                warnings += self._ledger().sharing(run_id, ignore=parents(run_id))
            scaling = ""
            if wish.new_nodes and not target.is_local and not target.is_remote:
                scaling = f"'{target.name}' scales from {before} to {len(target.nodes)} nodes"
            if wish.count < wish.request.count:
                warnings.append(
                    f"It goes on with {wish.count} of {wish.request.count} nodes: '{target.name}' could not give it all "
                    "of them again in time (setting elastic_wait_s)."
                )
            yield Granted(run_id, tuple(grants), scaling, tuple(warnings))

    def _grant_here(self, target: Target, run_id: str, nodes: list[Node]) -> list[Grant]:
        ledger = self._ledger()
        total = len(ledger.capacity.gpus)
        # 'local' is what a plain `python train.py` would see: every GPU.
        gpus = total if target.is_local else gpus_per_node(total, target.spec.gpus_per_node, target.spec.max_nodes)
        grants = ledger.take(run_id, [n.id for n in nodes], target.spec.cpus_per_node, gpus)
        for node, grant in zip(nodes, grants):
            node.cpus, node.gpus = grant.cpus, grant.gpus
        return grants

    def _ledger(self) -> Slots:
        capacity = self._engines.here.capacity()
        if self._slots is None:
            self._slots = Slots(capacity or self.capacity_or_cpus())
        elif capacity is not None and capacity != self._slots.capacity:
            self._slots.capacity = capacity  # the GPUs have been counted since a running run was found again
        return self._slots

    def _add(self, name: str, spec: ClusterSpec, row: dict[str, Any]) -> None:
        self._targets[name] = Target(name, spec, self._clock(), utc_now())
        self._rows[name] = row

    def _get(self, name: str) -> Target:
        if name not in self._targets:
            raise ComputeNotFoundError(
                f"Compute target '{name}' does not exist. Known: {', '.join(self._targets)}. Create "
                f"it with `rookery compute create {name}`."
            )
        return self._targets[name]

    def _check_spec(self, spec: ClusterSpec) -> None:
        check_cluster_spec(spec)
        if spec.engine == EMBEDDED:
            self._engines.here.check(min(1, spec.max_nodes), spec)

    def _json(self, name: str) -> dict[str, Any]:
        problem = self._engines.problem(name)
        census = self._engines.census(name)
        return show_target(self._targets[name], self._rows[name], len(self.capacity_or_cpus().cpus), problem, census)


def _is_requeued(spec: ClusterSpec) -> bool:
    """Whether runs that lost a node are queued again although nobody said so."""
    if spec.vm_priority == LOW_PRIORITY:
        return True
    options = read_options(spec.engine, spec.options)
    return isinstance(options, SlurmOptions) and options.requeue
