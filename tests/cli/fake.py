"""A keeper in memory that behaves: the routes of docs/inside/protocol.md that the command line asks."""

from __future__ import annotations

import re
from collections import namedtuple
from urllib.parse import unquote

from rookery.errors import (
    ComputeNotFoundError,
    ConflictError,
    ExperimentNotFoundError,
    ModelNotFoundError,
    RunNotFoundError,
)
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.spec.status import TERMINAL

Event = namedtuple("Event", "kind seq data")
DRIVER = "azureml-logs/70_driver_log.txt"
EARLY, LATE = "2026-11-15T20:00:00.000000Z", "2026-11-15T20:00:07.250000Z"


def make_run(run_id, status="Completed", **changes):
    spec = RunSpec(
        run_id,
        "birds",
        script="train.py",
        arguments=("--lr", "0.1"),
        environment=EnvironmentSpec(python="/usr/bin/python3"),
    )
    run = {
        "id": run_id,
        "number": 1,
        "experiment": "birds",
        "kind": "script",
        "parent_id": None,
        "root_id": run_id,
        "display_name": "",
        "description": "",
        "status": status,
        "reason": "",
        "attempt": 1,
        "compute": "local",
        "target": "local",
        "created_utc": EARLY,
        "started_utc": EARLY,
        "ended_utc": LATE if status in TERMINAL else None,
        "submitted_by": "mia",
        "tags": {},
        "properties": {},
        "spec": to_plain(spec),
        "error": None,
        "warnings": [],
        "snapshot_id": "ab" * 32,
        "phases": [
            {"status": "Queued", "since_utc": EARLY, "reason": ""},
            {"status": status, "since_utc": LATE, "reason": ""},
        ],
    }
    run.update(changes)
    return run


def make_model(name, version=1, **changes):
    model = {
        "name": name,
        "version": version,
        "id": f"{name}:{version}",
        "created_utc": EARLY,
        "created_by": "mia",
        "description": "",
        "tags": {},
        "properties": {},
        "framework": "PyTorch",
        "framework_version": "2.13",
        "run_id": None,
        "experiment": None,
        "snapshot_id": None,
        "files": [{"path": "model.pt", "sha256": "", "size": 3}],
        "is_folder": False,
        "datasets": [],
        "resource": None,
        "sample_input": None,
        "sample_output": None,
    }
    model.update(changes)
    return model


def make_compute(name, spec=None):
    return {
        "name": name,
        "kind": "cluster" if spec else "local",
        "spec": spec or {},
        "provisioning_state": "Succeeded",
        "allocation_state": "Steady",
        "created_utc": EARLY,
        "modified_utc": EARLY,
        "current_nodes": 0,
        "target_nodes": 0,
        "node_states": {"idle": 0, "running": 0},
        "warnings": [],
        "queued_runs": 0,
        "running_runs": 0,
    }


class FakeKeeper:
    """Newest run first, as the keeper lists them. `asked` keeps every request."""

    def __init__(self):
        self.runs = []
        self.logs = {}  # run id → {name: bytes}
        self.artifacts = {}  # run id → {name: bytes}
        self.metrics = {}  # run id → [Metric]
        self.events = {}  # run id → [Event]
        self.models = []
        self.compute = [make_compute("local")]
        self.experiments = []
        self.nodes = []
        self.checks = []
        self.asked = []
        self.endpoints = []

    def add(self, run, log=b"", artifacts=None):
        self.runs.insert(0, run)
        self.logs[run["id"]] = {DRIVER: log} if log else {}
        self.artifacts[run["id"]] = artifacts or {}
        return run

    def request(self, method, path, query=None, body=None, timeout_s=60.0):
        query = {k: v for k, v in (query or {}).items() if v is not None}
        self.asked.append((method, path, query, body))
        for pattern, answer in self._routes():
            found = re.fullmatch(pattern, f"{method} {path}")
            if found:
                return answer(*[unquote(g) for g in found.groups()], query=query, body=body)
        raise AssertionError(f"the fake has no {method} {path}")

    def stream(self, path, query=None, after=None):
        assert query == {"until": "end"}
        return iter(self.events[path.split("/")[2]])

    def download(self, path, target, query=None):
        query = {k: v for k, v in (query or {}).items() if v is not None}
        self.asked.append(("GET", path, query, None))
        parts = unquote(path).split("/", 4)
        if parts[1] == "models":
            target.write(b"abc")
            return 3
        data = {**self.logs[parts[2]], **self.artifacts[parts[2]]}[parts[4]]
        start = query.get("offset", 0)
        data = data[start : start + query["length"]] if "length" in query else data[start:]
        target.write(data)
        return len(data)

    def _routes(self):
        run, name = r"/runs/([^/]+)", "([^/]+)"
        return [
            ("GET /runs", self._list_runs),
            ("GET /endpoints", lambda **_: {"endpoints": self.endpoints}),
            ("GET " + run, lambda i, **_: self._run(i)),
            ("POST " + run + "/cancel", self._cancel),
            ("GET " + run + "/metrics", lambda i, **_: {"metrics": self.metrics.get(i, [])}),
            ("GET " + run + "/artifacts", lambda i, **_: {"artifacts": _files(self.artifacts[i])}),
            ("GET " + run + "/logs", lambda i, **_: {"logs": _files(self.logs[i])}),
            (
                "GET " + run + "/children",
                lambda i, **_: {"runs": [r for r in self.runs if r["parent_id"] == i]},
            ),
            ("GET /experiments", lambda **_: {"experiments": self.experiments}),
            (f"(?:GET|PATCH|DELETE) /experiments/{name}", self._experiment),
            ("GET /compute", lambda **_: {"compute": self.compute}),
            ("POST /compute", self._create_compute),
            (f"POST /compute/{name}/check", lambda n, **_: {"checks": self.checks}),
            (f"GET /compute/{name}/nodes", lambda n, **_: {"nodes": self.nodes}),
            (f"(?:GET|PATCH|DELETE) /compute/{name}", self._one_compute),
            ("GET /models", lambda **_: {"models": self.models}),
            (
                "POST /models",
                lambda query, body: make_model(body["name"], run_id=body["run_id"], experiment="birds"),
            ),
            (f"GET /models/{name}", self._model),
            (f"DELETE /models/{name}/([0-9]+)", lambda n, v, **_: {}),
            ("POST /tokens", lambda query, body: {"token": "rkr_" + body["run_id"], "expires_utc": LATE}),
            ("GET /keeper", lambda **_: KEEPER),
            ("GET /workspace", lambda **_: {"disk_bytes": 1000}),
        ]

    def _list_runs(self, query, body):
        wanted = query.get("status")
        found = [
            r
            for r in self.runs
            if (not wanted or r["status"] in wanted)
            and query.get("experiment") in (None, r["experiment"])
            and (query.get("include_children") or not r["parent_id"])
        ]
        start = int(query.get("cursor", 0))
        end = start + int(query.get("limit", 100))
        return {"runs": found[start:end], "cursor": str(end) if end < len(found) else None}

    def _run(self, run_id):
        for run in self.runs:
            if run["id"] == run_id:
                return run
        raise RunNotFoundError(f"Run '{run_id}' does not exist.")

    def _cancel(self, run_id, **_):
        run = self._run(run_id)
        run["status"] = "CancelRequested"
        return run

    def _experiment(self, name, query, body):
        for experiment in self.experiments:
            if experiment["name"] == name:
                if self.asked[-1][0] == "DELETE" and experiment["run_count"]:
                    raise ConflictError(f"Experiment '{name}' has runs.")
                return experiment
        raise ExperimentNotFoundError(f"Experiment '{name}' does not exist.")

    def _create_compute(self, query, body):
        self.compute.append(make_compute(body["name"], body["spec"]))
        return self.compute[-1]

    def _one_compute(self, name, query, body):
        for compute in self.compute:
            if compute["name"] == name:
                compute["spec"].update(body or {})
                return compute
        raise ComputeNotFoundError(f"Compute '{name}' does not exist. Known: local.")

    def _model(self, name, query, body):
        for model in self.models:
            if model["name"] == name and query.get("version") in (None, model["version"]):
                return model
        raise ModelNotFoundError(f"Model '{name}' does not exist.")


KEEPER = {
    "pid": 42,
    "uptime_s": 61.0,
    "memory_bytes": 80_000_000,
    "live_runs": 1,
    "queued_runs": 0,
    "open_streams": 0,
    "idle_s": 0.0,
    "socket": "/tmp/x.sock",
    "port": 4242,
    "version": "0.1.0",
}


def _files(contents):
    return [{"name": n, "size": len(d), "sha256": None, "modified_utc": LATE} for n, d in contents.items()]
