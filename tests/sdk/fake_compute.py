"""The keeper's compute routes, behaving: clusters are created, get nodes after a few looks, and go away."""

from __future__ import annotations

from urllib.parse import unquote

from rookery.errors import ComputeNotFoundError, ConflictError
from rookery.spec.compute import ClusterSpec, check_cluster_spec
from rookery.spec.plain import from_plain, to_plain

TIME = "2026-11-15T20:00:00.000000Z"


class FakeWorkspace:
    """`looks`: how often a cluster is looked at before it is ready, and before each node is there."""

    name = "fake"

    def __init__(self, looks=2):
        self.client = self._client = self
        self.looks = looks
        self.clusters = {}
        self.busy = set()
        self.sent = []

    def request(self, method, path, query=None, body=None, timeout_s=60.0):
        self.sent.append((method, path, body))
        parts = [unquote(p) for p in path.strip("/").split("/")]
        assert parts[0] == "compute"
        if parts == ["compute"]:
            return self._create(body) if method == "POST" else {"compute": [_local(), *map(self._tell, self.clusters)]}
        name = parts[1]
        if name not in self.clusters:
            raise ComputeNotFoundError(f"Compute '{name}' does not exist.")
        if parts[2:] == ["nodes"]:
            return {"nodes": [self._node(i) for i in range(self.clusters[name]["nodes"])]}
        return {"GET": self._look, "PATCH": self._change, "DELETE": self._delete}[method](name, body)

    def _create(self, body):
        spec = check_cluster_spec(from_plain(ClusterSpec, body["spec"]))
        if body["name"] in self.clusters:
            raise ConflictError("It exists already.")
        self.clusters[body["name"]] = {
            "spec": to_plain(spec),
            "state": "Creating",
            "looks": self.looks,
            "nodes": 0,
        }
        return self._tell(body["name"])

    def _look(self, name, body):
        cluster = self.clusters[name]
        if cluster["looks"] > 0:
            cluster["looks"] -= 1
        elif cluster["state"] == "Deleting":
            del self.clusters[name]
            raise ComputeNotFoundError("It is gone.")
        elif cluster["state"] != "Succeeded":
            cluster["state"] = "Succeeded"
        elif cluster["nodes"] < cluster["spec"]["min_nodes"]:
            cluster["nodes"] += 1
        return self._tell(name)

    def _change(self, name, body):
        self.clusters[name]["spec"].update(body)
        return self._tell(name)

    def _delete(self, name, body):
        if name in self.busy:
            raise ConflictError(f"Compute '{name}' has 1 run.")
        self.clusters[name].update(state="Deleting", looks=self.looks)
        return {}

    def _node(self, i):
        return {
            "id": f"n{i}",
            "state": "idle",
            "address": "127.0.0.1",
            "run_id": None,
            "cpus": 1,
            "gpus": 0,
            "since_utc": TIME,
        }

    def _tell(self, name):
        cluster = self.clusters[name]
        states = dict.fromkeys(("leaving", "preempted", "preparing", "running", "unusable"), 0)
        return {
            "name": name,
            "kind": "cluster",
            "spec": dict(cluster["spec"]),
            "provisioning_state": cluster["state"],
            "allocation_state": "Steady" if cluster["state"] == "Succeeded" else "Resizing",
            "created_utc": TIME,
            "modified_utc": TIME,
            "current_nodes": cluster["nodes"],
            "target_nodes": cluster["spec"]["min_nodes"],
            "node_states": {**states, "idle": cluster["nodes"]},
            "problem": cluster.get("problem", ""),
            "warnings": [],
            "queued_runs": 0,
            "running_runs": 0,
        }


def _local():
    return {"name": "local", "kind": "local"}


def fail(workspace, name):
    """Let a cluster end as Failed."""
    workspace.clusters[name].update(state="Failed", looks=10**6)
