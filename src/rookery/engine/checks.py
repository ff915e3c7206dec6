"""What can never run is refused at submit, in words that say what would."""

from __future__ import annotations

from rookery import environments
from rookery.engine.compute import Computes
from rookery.engine.engines.base import Engine
from rookery.errors import ComputeError, UnsupportedError
from rookery.spec.compute import LOCAL
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
    if spec.launcher in ("none", "per_node") and (spec.node_count > 1 or spec.processes_per_node > 1):
        raise UnsupportedError(
            f"node_count={spec.node_count}, processes_per_node={spec.processes_per_node}: runs of "
            "several nodes or processes come in a later version of "
            "Rookery. Submit with one node and one process."
        )
    if spec.launcher != "none":
        raise UnsupportedError(
            f"Distributed runs (launcher '{spec.launcher}') come in a later version of Rookery. "
            "Submit without distributed_job_config."
        )
    environments.check(spec.environment)


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
