"""The first page of 100,000 runs."""

from __future__ import annotations

import tempfile

from benchmarks import peer
from benchmarks.result import Result, median_of

RUNS = 100_000
PEER = """
import json, statistics, sys, time
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
client = mlflow.MlflowClient()
experiment = client.create_experiment('many')
for i in range(201):
    run = client.create_run(experiment, tags={'i': str(i)})
taken = []
for _ in range(5):
    start = time.perf_counter()
    client.search_runs([experiment], max_results=100)
    taken.append(time.perf_counter() - start)
print(json.dumps({'s': statistics.median(taken)}))
"""


def measure(ws) -> list[Result]:
    from benchmarks.many_runs import workspace_with_runs

    with tempfile.TemporaryDirectory() as folder:
        client = workspace_with_runs(folder, RUNS)
        page = client.request("GET", "/runs", query={"limit": 100})
        if len(page["runs"]) != 100:
            raise AssertionError(f"a page of 100 was asked for, {len(page['runs'])} came")
        ours = median_of(9, lambda: client.request("GET", "/runs", query={"limit": 100}))
        filtered = median_of(
            9, lambda: client.request("GET", "/runs", query={"limit": 100, "experiment": "many", "status": "Failed"})
        )
        client.request("POST", "/keeper/stop")
    theirs = None
    if peer.is_there():
        with tempfile.TemporaryDirectory() as folder, peer.mlflow_server(folder) as server:
            theirs = peer.run_in_peer(PEER, server.address)["s"] * 1000
    return [
        Result("first page of 100,000 runs", ours * 1000, "ms", 50, theirs, "MLflow search_runs, 201 runs"),
        Result("first page of the failed ones among 100,000", filtered * 1000, "ms", None),
    ]
