"""What pipelines cost: checking a graph of 300 nodes, and what the driver adds between one step's end and the next one's start."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from datetime import datetime
from typing import Any

from benchmarks.result import Result

NODES, STEPS, TIMES = 300, 8, 9


def measure(ws: Any) -> list[Result]:
    return [*_validation(ws), *_driver(ws)]


def _validation(ws: Any) -> list[Result]:
    from rookery.sdk import PipelineGraph

    graph = PipelineGraph("wide")
    last = graph.module("n0", "sample_pictures", parameters={"count": 10})
    before = graph.module("n1", "convert_to_image_directory", {"input_dataset": last.output("output_dataset")})
    port = "output_image_directory"
    for i in range(2, NODES):
        before = graph.module(
            f"n{i}", "split_image_directory", {"input_image_directory": before.output(port)}, {"fraction": 0.5}
        )
        port = "output_image_directory1"
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        assert graph.validate(ws) == []
        took.append((time.perf_counter() - began) * 1000)
    return [Result(f"pipeline: checking {NODES} nodes, asked over the API", statistics.median(took), "ms", 50)]


def _driver(ws: Any) -> list[Result]:
    """Steps in a row that do nothing: from the end of one to the creation of the next, and all of them reused."""
    from rookery.sdk import Pipeline, PythonScriptStep

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "nothing.py"), "w") as f:
            f.write("pass\n")
        steps = [PythonScriptStep("nothing.py", f"s{i}", [str(i)], source_directory=folder) for i in range(STEPS)]
        for first, then in zip(steps, steps[1:]):
            then.run_after(first)
        pipeline = Pipeline(ws, steps)
    run = pipeline.submit("bench-pipeline")
    run.wait_for_completion(show_output=False)
    shown = sorted(ws.client.request("GET", f"/runs/{run.id}/children")["runs"], key=lambda one: one["created_utc"])
    gaps = [(_moment(b["created_utc"]) - _moment(a["ended_utc"])) * 1000 for a, b in zip(shown, shown[1:])]
    again = pipeline.submit("bench-pipeline")
    began = time.perf_counter()
    again.wait_for_completion(show_output=False)
    reused = (time.perf_counter() - began) * 1000 / STEPS
    assert all(step["reused_from"] for step in again.get_step_details().values())
    return [
        Result("pipeline: from a step's end to the next one's run", statistics.median(gaps), "ms", 100),
        Result("pipeline: a step that is reused", reused, "ms", 100),
    ]


def _moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
