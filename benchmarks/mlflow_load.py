"""The loader: the same calls for our keeper and for MLflow's server, in three ways.

raw, one connection      one kept connection, the next call when the answer is there: how long one call takes
raw, several             as many kept connections at a time: what the server can do
client                   MLflow's own client in its own environment: what its users see, most of it the client's own time
"""

from __future__ import annotations

import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks import peer

__all__ = ["CONNECTIONS", "Connection", "Target", "client_writes", "raw_writes", "searches"]

API = "/api/2.0/mlflow/"
CONNECTIONS = 8
BATCH = 1000
FILTERED = {
    "experiment_ids": ["0"],
    "filter": "metrics.loss < 0.5 and params.lr = '3'",
    "order_by": ["metrics.acc DESC"],
    "max_results": 100,
}
FIRST_PAGE = {"experiment_ids": ["0"], "max_results": 100}
CLIENT = """
import json, sys, time
import mlflow
from mlflow.entities import Metric
mlflow.set_tracking_uri(sys.argv[1])
client, calls = mlflow.MlflowClient(), int(sys.argv[2])
run = client.create_run("0").info.run_id
client.log_metric(run, "warm", 1.0)
start = time.perf_counter()
for i in range(calls):
    client.log_metric(run, "loss", i * 0.5, 1700000000000 + i, i)
single = calls / (time.perf_counter() - start)
batches = [[Metric(f"m{i % 10}", i * 0.25, 1700000000000 + i, b * 100 + i // 10) for i in range(1000)] for b in range(max(3, calls // 20))]
start = time.perf_counter()
for batch in batches:
    client.log_batch(run, metrics=batch)
print(json.dumps({"client_metric": single, "client_batch": 1000 * len(batches) / (time.perf_counter() - start)}))
"""


@dataclass(frozen=True)
class Target:
    """A server: where it is, and its process."""

    address: str
    pid: int
    token: str = ""

    def connect(self) -> Connection:
        return Connection(self.address, self.token)


class Connection:
    """One kept connection that sends the same bytes to either server."""

    def __init__(self, address: str, token: str = "") -> None:
        parts = urlsplit(address)
        self._http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=300)
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}

    def post(self, call: str, body: object) -> dict:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            answer = self._send(call, data)
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            self._http.close()  # MLflow's server closes a connection that is silent for 5 s; the next request opens another
            answer = self._send(call, data)
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{call}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    def _send(self, call: str, data: bytes) -> http.client.HTTPResponse:
        self._http.request("POST", API + call, data, self._headers)
        return self._http.getresponse()


def raw_writes(target: Target, num_calls: int) -> dict[str, float]:
    """Calls, values and runs per second, and milliseconds of the server's processor per call."""
    runs = [_new_run(target.connect()) for _ in range(CONNECTIONS)]
    num_batches = max(5, num_calls // 20)
    found = {}
    for name, call, make, count in (
        ("log_metric", "runs/log-metric", _metric, num_calls),
        ("log_batch", "runs/log-batch", _batch, num_batches),
        ("create", "runs/create", lambda _run, _i: b'{"experiment_id":"0"}', num_calls // 4),
    ):
        alone = _at_once(target, runs[:1], call, make, count)
        together = _at_once(target, runs, call, make, count * 2)
        values = BATCH if name == "log_batch" else 1
        found[name], found[name + "_many"] = values * alone[0], values * together[0]
        found[name + "_cpu_ms"] = alone[1]
    return found


def client_writes(address: str, num_calls: int) -> dict[str, float]:
    return peer.run_in_peer(CLIENT, address, str(num_calls))


def searches(target: Target) -> dict[str, float]:
    """Seconds: the median of five."""
    connection = target.connect()
    found = {}
    for name, body in (("filtered", FILTERED), ("page", FIRST_PAGE)):
        if len(connection.post("runs/search", body)["runs"]) != 100:
            raise AssertionError(f"the search '{name}' found too few runs")
        taken = []
        for _ in range(5):
            begin = time.perf_counter()
            connection.post("runs/search", body)
            taken.append(time.perf_counter() - begin)
        found[name] = statistics.median(taken)
    return found


def _new_run(connection: Connection) -> str:
    return connection.post("runs/create", {"experiment_id": "0"})["run"]["info"]["run_id"]


def _at_once(
    target: Target, runs: list[str], call: str, make: Callable[[str, int], bytes], count: int
) -> tuple[float, float]:
    """(calls per second, milliseconds of the server's processor per call); a connection per run. Bodies are made beforehand."""
    share = max(1, count // len(runs))
    bodies = [[make(run, i + 1) for i in range(share)] for run in runs]
    connections = [target.connect() for _ in runs]
    for run, connection in zip(runs, connections):
        connection.post(call, make(run, 0))  # not counted
    failures: list[BaseException] = []

    def send(connection: Connection, mine: list[bytes]) -> None:
        try:
            for body in mine:
                connection.post(call, body)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=send, args=pair) for pair in zip(connections, bodies)]
    cpu, begin = peer.tree_cpu_s(target.pid), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, used = time.perf_counter() - begin, peer.tree_cpu_s(target.pid) - cpu
    if failures:
        raise failures[0]
    return share * len(connections) / took, used / (share * len(connections)) * 1000


def _metric(run: str, i: int) -> bytes:
    return json.dumps(
        {"run_id": run, "key": "loss", "value": i * 0.5, "timestamp": 1700000000000 + i, "step": i}
    ).encode()


def _batch(run: str, b: int) -> bytes:
    values = [
        {"key": f"m{i % 10}", "value": i * 0.25, "timestamp": 1700000000000 + i, "step": b * 100 + i // 10}
        for i in range(BATCH)
    ]
    return json.dumps({"run_id": run, "metrics": values}).encode()
