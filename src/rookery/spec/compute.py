"""Compute targets as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import ComputeError
from rookery.spec.engine_options import EMBEDDED, read_options

__all__ = ["LOCAL", "LOW_PRIORITY", "ClusterSpec", "Reach", "check_cluster_spec"]

LOCAL = "local"
LOW_PRIORITY = "lowpriority"
TRANSPORTS = ("", "http", "spool")


@dataclass(frozen=True)
class Reach:
    """How nodes that are not this machine and the keeper reach each other. What is None or empty is found out when the
    target is attached, and kept."""

    keeper_url: str = ""  # where agents find the keeper's listener for run tokens; empty: the address that faces them
    transport: str = ""  # http | spool; empty: http where a node can reach it, else spool on shared files
    shared_files: Optional[bool] = None  # whether nodes see the workspace's folder at the same path
    shared_environments: Optional[bool] = None  # whether they also see what is built here, and this Python
    node_home: str = ""  # folder on a node for code, environments, caches and runs; empty: ~/.rookery/node
    python: str = "python3"  # starts the agent on a node; 3.9 or newer


@dataclass(frozen=True)
class ClusterSpec:
    """A named pool of nodes. `vm_size` is a label here: it is kept and shown, the nodes are what the engine has."""

    engine: str = "embedded"
    vm_size: str = ""
    vm_priority: str = "dedicated"
    min_nodes: int = 0
    max_nodes: int = 1  # on other machines 0: as many as there are
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
    read_options(spec.engine, spec.options)
    if spec.engine != EMBEDDED:
        _check_remote(spec)
    return spec


def _check_remote(spec: ClusterSpec) -> None:
    for name in ("cpus_per_node", "gpus_per_node"):
        value = getattr(spec, name)
        if value is not None and value < (name == "cpus_per_node"):
            raise ComputeError(f"{name}={value} must be {int(name == 'cpus_per_node')} or more.")
    reach = spec.reach
    if reach.transport not in TRANSPORTS:
        raise ComputeError(f"reach.transport={reach.transport!r} does not exist. Known: http, spool, or empty.")
    if reach.transport == "spool" and reach.shared_files is False:
        raise ComputeError(
            "reach.transport='spool' needs files that the nodes share with the keeper (shared_files=True)."
        )
    if reach.keeper_url and not reach.keeper_url.startswith(("http://", "https://")):
        raise ComputeError(f"reach.keeper_url={reach.keeper_url!r} must begin with http:// or https://.")
    if not reach.python or reach.python.startswith("-") or any(c in reach.python for c in "\n\0"):
        raise ComputeError(f"reach.python={reach.python!r} is no program. Give python3, or a path on the nodes.")
    if reach.node_home and not reach.node_home.startswith(("/", "~")):
        raise ComputeError(
            f"reach.node_home={reach.node_home!r} must be an absolute path on the nodes (or begin with ~)."
        )
