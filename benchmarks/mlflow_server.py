"""Our answers to MLflow's calls beside MLflow's own server (`--workers 1`, its quickest) on SQLite: the same bytes over one kept
connection to both, so that what is compared are the servers and not the client library, which costs 5 ms a call."""

from __future__ import annotations

import http.client
import json
import os
import statistics
import tempfile
import time
from urllib.parse import urlsplit

from benchmarks import peer
from benchmarks.result import Result

API = "/api/2.0/mlflow/"
FEW, MANY = 10_000, 100_000
FILL_PEER = """
import json, os, sys, uuid
from sqlalchemy import create_engine, text
engine = create_engine("sqlite:///" + sys.argv[1])
with engine.begin() as conn:
    runs, metrics, params = [], [], []
    for i in range(int(sys.argv[2])):
        run = uuid.uuid5(uuid.NAMESPACE_OID, str(i)).hex
        runs.append(dict(run_uuid=run, name=f"r{i}", status="FINISHED", start_time=1700000000000 + i, lifecycle_stage="active",
                         artifact_uri="mlflow-artifacts:/0/" + run + "/artifacts", experiment_id=0, user_id="bench"))
        for name, value in (("loss", i % 1000 / 1000), ("acc", i % 777 / 777)):
            metrics.append(dict(key=name, value=value, timestamp=1700000000000 + i, step=1, is_nan=False, run_uuid=run))
        params += [dict(key="lr", value=str(i % 10), run_uuid=run), dict(key="depth", value=str(i % 7), run_uuid=run)]
    conn.execute(text("INSERT INTO runs (run_uuid, name, status, start_time, lifecycle_stage, artifact_uri, experiment_id, user_id) VALUES (:run_uuid, :name, :status, :start_time, :lifecycle_stage, :artifact_uri, :experiment_id, :user_id)"), runs)
    conn.execute(text("INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES (:key, :value, :timestamp, :step, :is_nan, :run_uuid)"), metrics)
    conn.execute(text("INSERT INTO params (key, value, run_uuid) VALUES (:key, :value, :run_uuid)"), params)
print(json.dumps({}))
"""
FILTERED = {
    "experiment_ids": ["0"],
    "filter": "metrics.loss < 0.5 and params.lr = '3'",
    "order_by": ["metrics.acc DESC"],
    "max_results": 100,
}
FIRST_PAGE = {"experiment_ids": ["0"], "max_results": 100}


def measure(ws) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(folder)
        theirs = _theirs(folder) if peer.is_there() else {}
    name = "mlflow server -w 1"
    rows = (
        ("log_metric calls/s, one connection", "log_metric", "calls/s", None, True),
        ("log_batch of 1000, values/s", "log_batch", "values/s", 20 * theirs.get("log_batch", 4000), True),
        ("runs created per second", "create", "runs/s", None, True),
        ("search_runs, filter and order, 10 k runs", "filtered", "s", None, False),
        ("search_runs, first page of 10 k runs", "page", "s", None, False),
        ("start to first answer", "start", "s", 1.0, False),
        ("memory after this", "memory", "MB", 100, False),
    )
    results = [
        Result("mlflow: " + what, ours[key], unit, goal, theirs.get(key), name, more)
        for what, key, unit, goal, more in rows
    ]
    results.append(Result("mlflow: search_runs, filter and order, 100 k runs", ours["filtered_many"], "s", 0.5))
    results.append(Result("mlflow: search_runs, first page of 100 k runs", ours["page_many"], "s", 0.05))
    return results


class Connection:
    """One kept connection that sends the same bytes to either server."""

    def __init__(self, address: str, token: str = "") -> None:
        parts = urlsplit(address)
        self._http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=300)
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}

    def post(self, call: str, body: object) -> dict:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._http.request("POST", API + call, data, self._headers)
        answer = self._http.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{call}: {answer.status} {text[:300]!r}")
        return json.loads(text)


def _writes(connection: Connection, num_calls: int) -> dict[str, float]:
    """Rates, after one round that is not counted."""
    run = connection.post("runs/create", {"experiment_id": "0"})["run"]["info"]["run_id"]
    connection.post("runs/log-metric", {"run_id": run, "key": "warm", "value": 1, "timestamp": 1, "step": 0})
    single = [
        json.dumps({"run_id": run, "key": "loss", "value": i * 0.5, "timestamp": 1700000000000 + i, "step": i}).encode()
        for i in range(num_calls)
    ]
    batches = [
        json.dumps(
            {
                "run_id": run,
                "metrics": [
                    {"key": f"m{i % 10}", "value": i * 0.25, "timestamp": 1700000000000 + i, "step": b * 100 + i // 10}
                    for i in range(1000)
                ],
            }
        ).encode()
        for b in range(max(5, num_calls // 20))
    ]
    return {
        "log_metric": num_calls / _seconds(lambda: [connection.post("runs/log-metric", body) for body in single]),
        "log_batch": 1000
        * len(batches)
        / _seconds(lambda: [connection.post("runs/log-batch", body) for body in batches]),
        "create": num_calls
        / 4
        / _seconds(lambda: [connection.post("runs/create", {"experiment_id": "0"}) for _ in range(num_calls // 4)]),
    }


def _searches(connection: Connection) -> dict[str, float]:
    found = {}
    for name, body in (("filtered", FILTERED), ("page", FIRST_PAGE)):
        if len(connection.post("runs/search", body)["runs"]) != 100:
            raise AssertionError(f"the search '{name}' found too few runs")
        found[name] = statistics.median(_seconds(lambda b=body: connection.post("runs/search", b)) for _ in range(5))
    return found


def _ours(folder: str) -> dict[str, float]:
    from rookery.client import Client
    from rookery.client.folder import create_workspace

    found: dict[str, float] = {}
    for num_runs in (FEW, MANY):
        root = os.path.join(folder, f"ours{num_runs}")
        create_workspace(root, f"bench{num_runs}")
        _fill(root, num_runs)
        begin = time.perf_counter()
        client = Client.for_workspace(root)
        made = client.request("POST", "/tokens/tracking")
        took = time.perf_counter() - begin
        try:
            connection = Connection(f"http://127.0.0.1:{made['port']}", made["token"])
            searched = _searches(connection)
            if num_runs == FEW:
                found.update(searched, start=took, **_writes(connection, 1000))
                found["memory"] = peer.tree_memory_mb(client.request("GET", "/keeper")["pid"])
            else:
                found.update({name + "_many": value for name, value in searched.items()})
        finally:
            client.request("POST", "/keeper/stop")
    return found


def _theirs(folder: str) -> dict[str, float]:
    place = os.path.join(folder, "theirs")
    os.makedirs(place)
    with peer.mlflow_server(place, workers=1) as (_, start, _):
        pass  # makes the database
    peer.run_in_peer(FILL_PEER, os.path.join(place, "mlflow.db"), str(FEW))
    with peer.mlflow_server(place, workers=1) as (address, again, memory):
        connection = Connection(address)
        return {**_searches(connection), **_writes(connection, 100), "start": min(start, again), "memory": memory}


def _fill(root: str, num_runs: int) -> None:
    """The same runs that the peer has, put where the record keeps them."""
    from sqlalchemy import insert

    from rookery.record import Record
    from rookery.record.clock import from_unix
    from rookery.record.schema import experiments, metrics, runs
    from rookery.record.schema_tracking import run_params
    from rookery.spec.paths import WorkspacePaths

    record = Record(WorkspacePaths(root))
    record.experiments.create("Default", experiment_id="0")
    rows, values, params = [], [], []
    for i in range(num_runs):
        run_id, moment = f"{i:032x}", from_unix(1.7e9 + i / 1000)
        rows.append(
            {
                "id": run_id, "experiment_id": "0", "number": i + 1, "kind": "external", "root_id": run_id, "display_name": f"r{i}",
                "description": "", "status": "Completed", "reason": "", "attempt": 1, "compute": "external", "target": "external",
                "created_utc": moment, "started_utc": moment, "ended_utc": moment, "submitted_by": "bench", "spec": {},
                "warnings": [], "phases": [], "began_ms": 1700000000000 + i,
            }
        )  # fmt: skip
        for name, value in (("loss", i % 1000 / 1000), ("acc", i % 777 / 777)):
            values.append(
                {
                    "run_id": run_id, "name": name, "kind": "scalar", "total": 1, "tail": -1, "tail_count": 0, "tail_dtype": "",
                    "tail_steps": 0, "last": value, "last_value": value, "last_step": 1, "last_time": 1.7e9,
                }
            )  # fmt: skip
        for name, text in (("lr", str(i % 10)), ("depth", str(i % 7))):
            params.append({"run_id": run_id, "key": name, "value": text, "head": text})
    with record.database.write() as tx:
        tx.conn.execute(insert(runs), rows)
        tx.conn.execute(insert(metrics), values)
        tx.conn.execute(insert(run_params), params)
        tx.conn.execute(experiments.update().values(run_count=num_runs))
    record.close()


def _seconds(act) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin
