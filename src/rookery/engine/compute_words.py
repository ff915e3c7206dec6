"""A compute target as people see it, and which of its nodes they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rookery.engine.engines.base import NodeInfo
from rookery.engine.queue import Node, Target
from rookery.errors import ComputeError
from rookery.spec.compute import LOCAL, LOW_PRIORITY, ClusterSpec
from rookery.spec.engine_options import KubernetesOptions, SlurmOptions, SshOptions, read_options
from rookery.spec.plain import to_plain

__all__ = ["choose_node", "show_nodes", "show_target", "slots_of"]

_STATES = ("idle", "leaving", "preempted", "preparing", "running", "unusable")
_OUT = ("down", "drained")
MANY = 100_000


def slots_of(census: Sequence[NodeInfo], spec: ClusterSpec) -> int:
    """How many agents the machines of an engine have room for; those that are down now count, because they may come back."""
    cpus = spec.cpus_per_node
    options = read_options(spec.engine, spec.options)
    if isinstance(options, KubernetesOptions):
        return MANY  # its scheduler lets pods wait, we need not
    if isinstance(options, SshOptions):
        return len(census) * options.slots
    if isinstance(options, SlurmOptions) and options.cpus_per_task:
        cpus = options.cpus_per_task
    return sum(_slots(node, cpus, spec.gpus_per_node) for node in census)


def _slots(node: NodeInfo, cpus: int | None, gpus: int | None) -> int:
    if not cpus:
        return 1  # an agent takes all of it
    return min(node.cpus // cpus, node.gpus // gpus if gpus else node.cpus)


def show_target(
    target: Target, row: dict[str, Any], cores_here: int, problem: str, census: Sequence[NodeInfo]
) -> dict[str, Any]:
    """Compute of the protocol."""
    states = {state: target.count(state) for state in _STATES}
    num_nodes = len(target.nodes)
    if target.is_remote:
        used = target.count("running") + target.count("leaving")
        states["unusable"] = sum(1 for n in census if n.state in _OUT)
        states["idle"] = max(0, len(census) - states["unusable"] - used)
        num_nodes = len(census)
    return {
        "name": target.name,
        "kind": LOCAL if target.is_local else "cluster",
        "spec": to_plain(target.spec),
        "provisioning_state": "Failed" if problem else "Succeeded",
        "allocation_state": "Steady",
        "created_utc": row["created_utc"],
        "modified_utc": row["modified_utc"],
        "current_nodes": num_nodes,
        "target_nodes": num_nodes,
        "max_nodes": target.size,
        "problem": problem,
        "node_states": states,
        "warnings": _warnings(target, cores_here, census),
        "queued_runs": len(target.line),
        "running_runs": len(target.running_runs),
    }


def _warnings(target: Target, cores_here: int, census: Sequence[NodeInfo]) -> list[str]:
    if target.is_remote:
        out = [n for n in census if n.state in _OUT]
        return [
            f"Machine {n.name} of '{target.name}' is {n.state}" + (f": {n.detail}" if n.detail else ".") for n in out
        ]
    if target.is_local or target.spec.max_nodes <= cores_here:
        return []
    return [
        f"'{target.name}' may have {target.spec.max_nodes} nodes, but this machine has {cores_here} "
        "cores: nodes in use together share them."
    ]


def show_nodes(nodes: Iterable[Node], census: Sequence[NodeInfo], machines: dict[str, str]) -> list[dict[str, Any]]:
    """The nodes of a target; of one on other machines its machines, with what runs on each, then the nodes of runs whose
    machine is not known yet.

    Args:
        machines: node id → the machine that it is on.
    """
    rows = [_machine_row(info) for info in census]
    by_name = {row["id"]: row for row in rows}
    for node in nodes:
        row = by_name.get(machines.get(node.id, ""))
        if row is None:
            rows.append(_node_row(node, waits=bool(census)))
        elif node.run_id:
            row["runs"].append({"run_id": node.run_id, "node": node.index, "id": node.id, "state": node.state})
            row["run_id"] = row["run_id"] or node.run_id
            row["since_utc"] = row["since_utc"] or node.since_utc
            row["state"] = row["state"] if row["state"] in _OUT else node.state
    return rows


def _node_row(node: Node, waits: bool) -> dict[str, Any]:
    runs = [{"run_id": node.run_id, "node": node.index, "id": node.id, "state": node.state}] if node.run_id else []
    return {
        "id": node.id,
        "state": "preparing" if waits and node.state == "running" else node.state,
        "address": "" if waits else "127.0.0.1",
        "run_id": node.run_id,
        "cpus": list(node.cpus),
        "gpus": list(node.gpus),
        "since_utc": node.since_utc,
        "num_cpus": len(node.cpus),
        "num_gpus": len(node.gpus),
        "free_cpus": None,
        "free_gpus": None,
        "memory_bytes": None,
        "detail": "its machine is not known yet" if waits else "",
        "runs": runs,
    }


def _machine_row(info: NodeInfo) -> dict[str, Any]:
    return {
        "id": info.name,
        "state": info.state,
        "address": info.address,
        "run_id": None,
        "cpus": [],
        "gpus": [],
        "since_utc": None,
        "num_cpus": info.cpus,
        "num_gpus": info.gpus,
        "free_cpus": info.free_cpus,
        "free_gpus": info.free_gpus,
        "memory_bytes": info.memory_bytes,
        "detail": info.detail,
        "runs": [],
    }


def choose_node(target: Target, node_id: str | None, force: bool) -> Node:
    if target.is_local:
        raise ComputeError("The target 'local' is this machine: it has no node that could be taken away.")
    if target.spec.vm_priority != LOW_PRIORITY and not force:
        raise ComputeError(
            f"Compute target '{target.name}' is dedicated: its nodes are not preempted. Force it with "
            f"`rookery compute preempt {target.name} --force`, or create the cluster with --vm-priority lowpriority."
        )
    there = [n for n in target.nodes.values() if n.state in ("idle", "running")]
    if node_id is not None:
        for node in there:
            if node.id == node_id:
                return node
        known = ", ".join(n.id for n in there) or "none"
        raise ComputeError(f"Compute target '{target.name}' has no node '{node_id}' that is up. Up: {known}.")
    if not there:
        raise ComputeError(f"Compute target '{target.name}' has no node that is up, so none can be preempted.")
    return min(there, key=lambda n: n.run_id is None)
