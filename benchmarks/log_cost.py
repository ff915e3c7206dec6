"""What one `run.log` costs the training loop, inside a real submitted run, beside MLflow's log_metric."""

from __future__ import annotations

import os
import tempfile

from benchmarks import peer
from benchmarks.result import Result

SCRIPT = """
import statistics, time
from azureml.core import Run
run = Run.get_context()
taken = []
for i in range(20000):
    value = i * 0.5
    start = time.perf_counter()
    run.log('loss', value)
    taken.append(time.perf_counter() - start)
run.log('p50_us', statistics.median(taken) * 1e6)
run.log('p99_us', statistics.quantiles(taken, n=100)[98] * 1e6)
"""
PEER = """
import json, statistics, sys, time
import mlflow
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment('bench')
taken = []
with mlflow.start_run():
    for i in range(int(sys.argv[2])):
        start = time.perf_counter()
        mlflow.log_metric('loss', i * 0.5, step=i)
        taken.append(time.perf_counter() - start)
print(json.dumps({'p50_us': statistics.median(taken) * 1e6}))
"""


def measure(ws) -> list[Result]:
    from rookery.sdk import Experiment, ScriptRunConfig

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "log.py"), "w") as f:
            f.write(SCRIPT)
        run = Experiment(ws, "bench-log").submit(ScriptRunConfig(folder, script="log.py"))
        run.wait_for_completion()
        metrics = run.get_metrics()
        if len(metrics["loss"]) != 20000:
            raise AssertionError(f"20000 values were logged, {len(metrics['loss'])} arrived")
        direct = server = None
        if peer.is_there():
            direct = peer.run_in_peer(PEER, f"sqlite:///{folder}/direct.db", "300")["p50_us"]
            with peer.mlflow_server(folder) as running:
                server = peer.run_in_peer(PEER, running.address, "200")["p50_us"]
    return [
        Result(
            "run.log on the training thread, p50",
            metrics["p50_us"],
            "µs",
            5.0,
            direct,
            "mlflow.log_metric, SQLite directly",
        ),
        Result(
            "run.log on the training thread, p50",
            metrics["p50_us"],
            "µs",
            5.0,
            server,
            "mlflow.log_metric, through its server",
        ),
        Result("run.log on the training thread, p99", metrics["p99_us"], "µs", None),
    ]
