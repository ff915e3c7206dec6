"""What can never run is refused at submit, in words that say what would."""

from __future__ import annotations

from collections.abc import Sequence

from rookery import environments
from rookery.engine.compute import Computes
from rookery.engine.engines.base import Engine, NodeInfo
from rookery.engine.engines.registry import Engines
from rookery.engine.exporting import check_export
from rookery.engine.ground import is_remote
from rookery.engine.slots import gpus_per_node
from rookery.errors import ComputeError, RunConfigError
from rookery.spec.compute import LOCAL, ClusterSpec
from rookery.spec.engine_options import KUBERNETES, SlurmOptions, read_options
from rookery.spec.launch import LAUNCHERS
from rookery.spec.run import RunKind, RunSpec

__all__ = ["check_feasible"]


def check_feasible(spec: RunSpec, computes: Computes, engines: Engines) -> None:
    """Raise for what this workspace can never run; interactive and child runs bring their own process."""
    if spec.kind != RunKind.SCRIPT:
        return
    cluster = computes.spec(spec.compute)
    _check_launcher(spec)
    if is_remote(cluster):
        _check_far(spec, cluster, engines)
    else:
        largest = 1 if spec.compute == LOCAL else cluster.max_nodes
        if spec.node_count > largest:
            raise ComputeError(_too_many(spec, largest))
        engines.here.check(spec.node_count, cluster)
        _check_processes(spec, cluster, engines.here)
    environments.check(spec.environment)


def _check_far(spec: RunSpec, cluster: ClusterSpec, engines: Engines) -> None:
    """Against the machines as they were last seen. An engine that cannot be asked now refuses nobody: runs wait for it."""
    if cluster.max_nodes and spec.node_count > cluster.max_nodes:
        raise ComputeError(_too_many(spec, cluster.max_nodes))
    if cluster.engine == KUBERNETES:
        check_export(spec, cluster)
    attached = engines.attached(spec.compute)
    if attached is None or attached.engine is None or attached.problem:
        return
    attached.engine.check(spec.node_count, cluster)
    units, kind = _units_of(cluster, attached.census)
    if units and spec.processes_per_node > units:
        raise ComputeError(_too_many_processes(spec, units, kind))


def _units_of(cluster: ClusterSpec, census: Sequence[NodeInfo]) -> tuple[int, str]:
    """What the largest machine gives one node of a run."""
    options = read_options(cluster.engine, cluster.options)
    asked = options.cpus_per_task if isinstance(options, SlurmOptions) else None
    gpus = max((n.gpus for n in census), default=0)
    if cluster.gpus_per_node is not None:
        gpus = min(cluster.gpus_per_node, gpus)
    cpus = asked or cluster.cpus_per_node or max((n.cpus for n in census), default=0)
    return (gpus, "GPU") if gpus else (cpus, "core")


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
    raise ComputeError(_too_many_processes(spec, units, "GPU" if gpus else "core"))


def _too_many_processes(spec: RunSpec, units: int, kind: str) -> str:
    kind += "s" if units > 1 else ""
    total = spec.processes_per_node * spec.node_count
    return (
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
