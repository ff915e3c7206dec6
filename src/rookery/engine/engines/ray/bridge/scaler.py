"""What Ray's autoscaler may still add, asked on the head. Sent by value with the looker.

Ray's table has it only where somebody reports it there, and neither of Ray's own autoscalers does. But their process runs on the
head and was told a file: the one that it reads itself, at every round.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Optional

_SEARCH_S = 5.0  # so long a process that was found, or not, is not searched for again
_DEFAULT_WORKERS = 2  # as Ray has it where the file does not say
_GROUP_LABEL = "ray.io/node-group"


class Scaler:
    """Remembers which file it is, and what was in it."""

    def __init__(self) -> None:
        self._searched_at = float("-inf")
        self._path = ""
        self._read: tuple[str, int, list[dict[str, Any]]] = ("", 0, [])
        self._problem = ""

    def kinds(self, state: Any, gcs_address: str) -> list[dict[str, Any]]:
        """The kinds of nodes of a cluster that scales: {"name", "resources", "max", "shared"}; see `told_kinds`."""
        reported = _reported(state)
        if reported:
            return reported
        if time.monotonic() - self._searched_at > _SEARCH_S:
            self._path, self._searched_at = config_path(gcs_address), time.monotonic()
        try:
            if self._path:
                self._look_again()
        except Exception as error:  # it is just being written, or is not ours to read
            if self._problem != str(error):
                self._problem = str(error)
                print(f"The autoscaler's file {self._path} cannot be read: {error}", flush=True)
        return self._read[2] if self._read[0] == self._path else []

    def _look_again(self) -> None:
        changed_ns = os.stat(self._path).st_mtime_ns
        if self._read[:2] != (self._path, changed_ns):
            import yaml  # Ray needs it too

            with open(self._path, encoding="utf-8") as f:
                self._read = (self._path, changed_ns, told_kinds(yaml.safe_load(f)))


def config_path(gcs_address: str, proc: str = "/proc") -> str:
    """The file that the autoscaler of this cluster was started with; empty where there is none on this machine."""
    for pid in os.listdir(proc):
        if not pid.isdigit():
            continue
        try:
            with open(os.path.join(proc, pid, "cmdline"), "rb") as f:
                words = f.read().decode("utf-8", "replace").split("\0")
        except OSError:  # it has just ended
            continue
        if f"--gcs-address={gcs_address}" in words:
            for word in words:
                if word.startswith("--autoscaling-config="):
                    return os.path.expanduser(word.split("=", 1)[1])
    return ""


def told_kinds(config: dict[str, Any]) -> list[dict[str, Any]]:
    """The kinds that a file of Ray's autoscaler names: `max` of each and `shared` of all together, without the head."""
    shared = config.get("max_workers")
    shared = _DEFAULT_WORKERS if shared is None else int(shared)
    kinds = []
    for name, told in (config.get("available_node_types") or {}).items():
        most = told.get("max_workers")
        if most is None:
            most = 0 if name == config.get("head_node_type") else shared
        resources = {k: float(v) for k, v in (told.get("resources") or {}).items()}
        if int(most) > 0:
            kinds.append({"name": name, "resources": resources, "max": int(most), "shared": shared})
    return kinds


def kind_of(node: dict[str, Any], mapping: dict[str, str]) -> str:
    """As what the autoscaler brought a node (of `ray.nodes()`); empty where it did not."""
    label = (node.get("Labels") or {}).get(_GROUP_LABEL, "")
    return label or mapping.get(node["NodeID"], "") or mapping.get(node["NodeManagerAddress"], "")


def kinds_by_node() -> dict[str, str]:
    """Kinds of nodes by their addresses or ids, as the autoscaler last told."""
    from ray.experimental.internal_kv import _internal_kv_get

    try:
        told = json.loads(_internal_kv_get("__autoscaling_status") or "{}")
        return dict((told.get("autoscaler_report") or {}).get("node_type_mapping") or {})
    except (ValueError, TypeError, AttributeError):
        return {}


def still(kinds: list[dict[str, Any]], there: list[str]) -> list[dict[str, Any]]:
    """How many of each may still come when nodes of these kinds (empty: another) are there."""
    names = {kind["name"] for kind in kinds}
    num_scaled = sum(1 for name in there if name in names)
    return [
        {**kind, "max": _left(kind["max"], there.count(kind["name"])), "shared": _left(kind["shared"], num_scaled)}
        for kind in kinds
    ]


def _left(most: int, num_there: int) -> int:
    return most if most < 0 else max(0, most - num_there)


def _reported(state: Any) -> Optional[list[dict[str, Any]]]:
    try:
        config = state.state.get_cluster_config()
    except Exception:  # an older Ray, or one that keeps it elsewhere
        return None
    if config is None:
        return None
    return [
        {
            "name": g.name,
            "resources": {k: float(v) for k, v in g.resources.items()},
            "max": int(g.max_count),
            "shared": -1,
        }
        for g in config.node_group_configs
    ]
