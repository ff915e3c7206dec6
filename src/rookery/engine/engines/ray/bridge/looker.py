"""What Ray knows about its nodes, asked from inside the cluster (a Ray Client cannot). Sent by value."""

from __future__ import annotations

import os
from typing import Any

from .scaler import Scaler, kind_of, kinds_by_node, still

_PATIENCE = "RAY_gcs_rpc_server_reconnect_timeout_s"  # as Ray spells it


class Looker:
    """An actor without resources on the head; it leaves with the bridge."""

    def __init__(self) -> None:
        self._scaler = Scaler()

    def look(self, groups: list[str]) -> dict[str, Any]:
        """Nodes with what is free on each, what the autoscaler may add, and the states of placement groups."""
        import ray
        from ray._private import state

        free = state.available_resources_per_node()
        kinds = self._scaler.kinds(state, ray.get_runtime_context().gcs_address)
        mapping = kinds_by_node() if kinds else {}
        nodes = []
        for node in ray.nodes():
            has, left = node.get("Resources") or {}, free.get(node["NodeID"]) or {}
            nodes.append(
                {
                    "id": node["NodeID"],
                    "alive": bool(node["Alive"]),
                    "host": node.get("NodeManagerHostname") or node["NodeManagerAddress"],
                    "address": node["NodeManagerAddress"],
                    "resources": _counts(has),
                    "free": _counts(left),
                    "memory": int(has.get("memory", 0)),
                    "kind": (node.get("Labels") or {}).get("ray.io/accelerator-type", ""),
                    "death": node.get("DeathReasonMessage") or "",
                    "head": "node:__internal_head__" in has,
                    "scaled_as": kind_of(node, mapping),
                }
            )
        there = [node["scaled_as"] for node in nodes if node["alive"] and not node["head"]]
        return {"nodes": nodes, "scaler": still(kinds, there), "groups": _groups(groups), **_patience()}

    def actors(self, namespace: str) -> list[str]:
        """The names of all named actors of a namespace."""
        from ray.util import list_named_actors

        return [a["name"] for a in list_named_actors(all_namespaces=True) if a["namespace"] == namespace]

    def groups(self) -> dict[str, str]:
        """Placement groups that have a name: its state."""
        from ray.util import placement_group_table

        return {g["name"]: g["state"] for g in placement_group_table().values() if g["name"]}


def is_on_head() -> bool:
    """Whether the driver that asks is on the cluster's head."""
    import ray

    here = ray.get_runtime_context().get_node_id()
    return any(n["NodeID"] == here and "node:__internal_head__" in (n.get("Resources") or {}) for n in ray.nodes())


def _counts(resources: dict[str, float]) -> dict[str, float]:
    return {
        k: v for k, v in resources.items() if not k.startswith("node:") and "_group_" not in k and "memory" not in k
    }


def _groups(ids: list[str]) -> dict[str, dict[str, str]]:
    from ray.util import placement_group_table

    if not ids:
        return {}
    table = placement_group_table()
    return {
        i: {"state": table[i]["state"], "why": (table[i].get("stats") or {}).get("scheduling_state", "")}
        for i in ids
        if i in table
    }


def _patience() -> dict[str, float]:
    """How long raylets go on without the head."""
    return {"patience_s": float(os.environ.get(_PATIENCE, "60"))}
