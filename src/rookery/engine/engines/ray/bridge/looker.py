"""What Ray knows about its nodes, asked from inside the cluster (a Ray Client cannot). Sent by value."""

from __future__ import annotations

import os
from typing import Any

_PATIENCE = "RAY_gcs_rpc_server_reconnect_timeout_s"  # as Ray spells it


class Looker:
    """An actor without resources on the head; it leaves with the bridge."""

    def look(self, groups: list[str]) -> dict[str, Any]:
        """Nodes with what is free on each, what the autoscaler may add, and the states of placement groups."""
        import ray
        from ray._private import state

        free = state.available_resources_per_node()
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
                }
            )
        return {"nodes": nodes, "scaler": _scaler(state), "groups": _groups(groups), **_patience()}

    def actors(self, namespace: str) -> list[str]:
        """The names of all named actors of a namespace."""
        from ray.util import list_named_actors

        return [a["name"] for a in list_named_actors(all_namespaces=True) if a["namespace"] == namespace]

    def groups(self) -> dict[str, str]:
        """Placement groups that have a name: its state."""
        from ray.util import placement_group_table

        return {g["name"]: g["state"] for g in placement_group_table().values() if g["name"]}


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


def _scaler(state: Any) -> list[dict[str, Any]]:
    """The kinds of nodes that an autoscaler may add: resources and how many at most (-1: no limit)."""
    try:
        config = state.state.get_cluster_config()
    except Exception:  # an older Ray, or one that keeps it elsewhere
        return []
    if config is None:
        return []
    return [
        {"name": g.name, "resources": {k: float(v) for k, v in g.resources.items()}, "max": int(g.max_count)}
        for g in config.node_group_configs
    ]


def _patience() -> dict[str, float]:
    """How long raylets go on without the head."""
    return {"patience_s": float(os.environ.get(_PATIENCE, "60"))}
