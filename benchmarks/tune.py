"""What a tuning costs per child: children that do nothing, one at a time, beside the same script submitted run by run."""

from __future__ import annotations

import os
import statistics
import tempfile

from benchmarks.result import Result

SCRIPT = "pass\n"
CHILDREN = 12


def measure(ws) -> list[Result]:
    from rookery.sdk import Experiment, ScriptRunConfig
    from rookery.sdk.hyperdrive_config import HyperDriveConfig, PrimaryMetricGoal
    from rookery.sdk.parameter_expressions import uniform
    from rookery.sdk.sampling import RandomParameterSampling

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "nothing.py"), "w") as f:
            f.write(SCRIPT)
        config = ScriptRunConfig(folder, script="nothing.py")
        experiment = Experiment(ws, "bench-tune")
        for _ in range(2):
            experiment.submit(config).wait_for_completion()  # warm
        alone = [_took(ws, experiment.submit(config)) for _ in range(CHILDREN)]
        tuning = HyperDriveConfig(
            RandomParameterSampling({"x": uniform(0, 1)}),
            "none",
            PrimaryMetricGoal.MAXIMIZE,
            CHILDREN,
            1,
            run_config=config,
        )
        run = experiment.submit(tuning)
        run.wait_for_completion()
        children = sorted(
            ws.client.request("GET", f"/runs/{run.id}/children")["runs"], key=lambda one: one["created_utc"]
        )
    gaps = [_seconds(b["created_utc"]) - _seconds(a["ended_utc"]) for a, b in zip(children, children[1:])]
    took = [_seconds(child["ended_utc"]) - _seconds(child["created_utc"]) for child in children]
    return [
        Result("tune: from the end of a child to the next one", statistics.median(gaps) * 1000, "ms", 50),
        Result(
            "tune: a child that does nothing, created → ended",
            statistics.median(took) * 1000,
            "ms",
            None,
            statistics.median(alone) * 1000,
            "the same script as a run",
        ),
    ]


def _took(ws, run) -> float:
    run.wait_for_completion()
    data = ws.client.request("GET", f"/runs/{run.id}")
    return _seconds(data["ended_utc"]) - _seconds(data["created_utc"])


def _seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ").timestamp()
