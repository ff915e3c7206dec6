"""What can never run is refused at submit, in words that say what would."""

from __future__ import annotations

from rookery import environments
from rookery.engine.compute import Computes
from rookery.engine.engines.base import Engine
from rookery.engine.slots import gpus_per_node
from rookery.errors import ComputeError, RunConfigError
from rookery.spec.compute import LOCAL, ClusterSpec
from rookery.spec.launch import LAUNCHERS
from rookery.spec.run import RunKind, RunSpec

__all__ = ["check_feasible"]


def check_feasible(spec: RunSpec, computes: Computes, engine: Engine) -> None:
    """Raise for what this workspace can never run; interactive and child runs bring their own process."""
    if spec.kind != RunKind.SCRIPT:
        return
    cluster = computes.spec(spec.compute)
    largest = 1 if spec.compute == LOCAL else cluster.max_nodes
    if spec.node_count > largest:
        raise ComputeError(_too_many(spec, largest))
    engine.check(spec.node_count, cluster)
    _check_launcher(spec)
    _check_processes(spec, cluster, engine)
    environments.check(spec.environment)


def _check_launcher(spec: RunSpec) -> None:
    if spec.launcher not in LAUNCHERS:
        raise RunConfigError(f"launcher={spec.launcher!r} does not exist. Known: {', '.join(LAUNCHERS)}.")


def _check_processes(spec: RunSpec, cluster: ClusterSpec, engine: Engine) -> None:
    """No more processes on a node than it has processing units. Nodes that share a machine may share its units."""
    capacity = engine.capacity()
    if capacity is None or spec.processes_per_node == 1:
        return  # one process fits everywhere; GPUs that are still being counted refuse nobody
    nodes = 1 if spec.compute == LOCAL else cluster.max_nodes
    gpus = gpus_per_node(len(capacity.gpus), cluster.gpus_per_node, nodes)
    units = gpus or cluster.cpus_per_node or len(capacity.cpus)
    if spec.processes_per_node <= units:
        return
    kind = ("GPU" if gpus else "core") + ("s" if units > 1 else "")
    total = spec.processes_per_node * spec.node_count
    raise ComputeError(
        f"Process count per node ({spec.processes_per_node}) is larger than the Processing Unit of compute "
        f"'{spec.compute}' ({units} {kind} on each node). Process count per node must be less than or equal to the "
        f"Processing Unit of the compute: submit with {units} or fewer on each node"
        + (f" (process_count={units * spec.node_count} instead of {total})" if spec.launcher == "per_process" else "")
        + "."
    )


def _too_many(spec: RunSpec, largest: int) -> str:
    words = f"requested {spec.node_count} nodes but cluster '{spec.compute}' has {largest} maximum nodes."
    if spec.compute == LOCAL:
        return (
            f"{words} 'local' is this machine: submit with node_count=1, or to a cluster "
            f"(`rookery compute create NAME --max-nodes {spec.node_count}`)."
        )
    raise_it = f"raise it with `rookery compute update {spec.compute} --max-nodes {spec.node_count}`"
    return (
        f"{words} Submit with node_count={largest} or less, or {raise_it}."
        if largest
        else f"{words} It can hold no run: {raise_it}."
    )
