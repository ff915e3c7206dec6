"""How many metric values a second one keeper takes in and acknowledges, sent as an agent sends them, beside MLflow's log_batch."""

from __future__ import annotations

import base64
import tempfile
import time
from array import array

from benchmarks import peer
from benchmarks.result import Result

VALUES, BATCH = 1_000_000, 20_000
PEER = """
import json, sys, time
import mlflow
from mlflow.entities import Metric
mlflow.set_tracking_uri(sys.argv[1])
client = mlflow.MlflowClient()
run = client.create_run(client.create_experiment('ingest')).info.run_id
batches = [[Metric('loss', i * 0.5, 1700000000000 + i, b * 1000 + i) for i in range(1000)] for b in range(20)]
start = time.perf_counter()
for batch in batches:
    client.log_batch(run, metrics=batch)
print(json.dumps({'rate': 20000 / (time.perf_counter() - start)}))
"""


def measure(ws) -> list[Result]:
    from rookery.sdk import Experiment

    run = Experiment(ws, "bench-ingest").start_logging(snapshot_directory=None)
    blocks = []
    for start in range(0, VALUES, BATCH):
        numbers = range(start, start + BATCH)
        blocks.append(
            {
                "run": None,
                "name": "loss",
                "n": BATCH,
                "dtype": "d",
                "values": _packed("d", [i * 0.5 for i in numbers]),
                "steps": _packed("q", list(numbers)),
                "times": _packed("d", [1.7e9 + i for i in numbers]),
            }
        )
    path = f"/agent/{run.id}/1/0/journal"
    begin = time.perf_counter()
    for i, block in enumerate(blocks):
        ws.client.request(
            "POST",
            path,
            body={"journal": "bench.jnl", "from": i * 100, "to": (i + 1) * 100, "blocks": [block], "records": []},
        )
    rate = VALUES / (time.perf_counter() - begin)
    stored = len(run.get_metrics()["loss"])
    run.complete()
    if stored != VALUES:
        raise AssertionError(f"{VALUES} values were sent, {stored} are stored")
    theirs = None
    if peer.is_there():
        with tempfile.TemporaryDirectory() as folder, peer.mlflow_server(folder) as server:
            theirs = peer.run_in_peer(PEER, server.address)["rate"]
    return [
        Result(
            "metric ingest, one keeper, SQLite",
            rate,
            "values/s",
            200_000,
            theirs,
            "MLflow server, log_batch of 1000",
            more_is_better=True,
        )
    ]


def _packed(code: str, values: list) -> str:
    return base64.b64encode(array(code, values).tobytes()).decode("ascii")
