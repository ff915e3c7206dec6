"""Compute targets as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import ComputeError

__all__ = ["LOCAL", "LOW_PRIORITY", "ClusterSpec", "Reach", "check_cluster_spec"]

LOCAL = "local"
LOW_PRIORITY = "lowpriority"


@dataclass(frozen=True)
class Reach:
    """How nodes that are not this machine and the keeper reach each other. What is None or empty is found out when the
    target is attached, and kept."""

    keeper_url: str = ""  # where agents find the keeper's listener for run tokens; empty: the address that faces them
    transport: str = ""  # http | spool; empty: http where a node can reach it, else spool on shared files
    shared_files: Optional[bool] = None  # whether nodes see the workspace's folder at the same path
    node_home: str = ""  # folder on a node for code, environments, caches and runs; empty: ~/.rookery/node
    python: str = "python3"  # starts the agent on a node; 3.9 or newer


@dataclass(frozen=True)
class ClusterSpec:
    """A named pool of nodes. `vm_size` is a label here: it is kept and shown, the nodes are this machine's."""

    engine: str = "embedded"
    vm_size: str = ""
    vm_priority: str = "dedicated"
    min_nodes: int = 0
    max_nodes: int = 1
    idle_seconds_before_scaledown: int = 1800
    cpus_per_node: Optional[int] = None  # None: what the machine has, shared by the nodes in use
    gpus_per_node: Optional[int] = (
        None  # None: the machine's GPUs divided by max_nodes, at least one where there are any
    )
    tags: dict[str, str] = field(default_factory=dict)
    description: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # of the engine: spec/engine_options.py
    reach: Reach = field(default_factory=Reach)


def check_cluster_spec(spec: ClusterSpec) -> ClusterSpec:
    """The same spec, or ComputeError that names the field."""
    if spec.max_nodes < 0:
        raise ComputeError(f"max_nodes={spec.max_nodes} must not be negative.")
    if spec.min_nodes < 0:
        raise ComputeError(f"min_nodes={spec.min_nodes} must not be negative.")
    if spec.max_nodes < spec.min_nodes:
        raise ComputeError(f"max_nodes={spec.max_nodes} is smaller than min_nodes={spec.min_nodes}.")
    if spec.idle_seconds_before_scaledown < 0:
        raise ComputeError(f"idle_seconds_before_scaledown={spec.idle_seconds_before_scaledown} must not be negative.")
    if spec.vm_priority not in ("dedicated", LOW_PRIORITY):
        raise ComputeError(f"vm_priority={spec.vm_priority!r} does not exist. Known: dedicated, lowpriority.")
    return spec
