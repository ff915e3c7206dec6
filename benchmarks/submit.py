"""From submit to the first line of the user's script on the caller's screen, over bare `python`, everything warm."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.result import Result

SCRIPT = "print('first line', flush=True)\n"


def measure(ws) -> list[Result]:
    from rookery.sdk import Experiment, ScriptRunConfig

    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "hello.py")
        with open(script, "w") as f:
            f.write(SCRIPT)
        experiment = Experiment(ws, "bench-submit")
        ours = [_to_first_line(ws, experiment, ScriptRunConfig(folder, script="hello.py")) for _ in range(9)][2:]
        bare = []
        for _ in range(7):
            start = time.perf_counter()
            process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE)
            assert process.stdout is not None
            process.stdout.readline()
            bare.append(time.perf_counter() - start)
            process.communicate()
    over = statistics.median(ours) - statistics.median(bare)
    return [
        Result("submit → first user line, over bare python, warm", over, "s", 0.3),
        Result(
            "submit → first user line, in all",
            statistics.median(ours),
            "s",
            None,
            statistics.median(bare),
            "bare python",
        ),
    ]


def _to_first_line(ws, experiment, config) -> float:
    start = time.perf_counter()
    run = experiment.submit(config)
    stream = ws.client.stream(f"/runs/{run.id}/events", {"until": "end"}, after=0)
    took = None
    for event in stream:
        if took is None and event.kind == "log" and "first line" in event.data.get("text", ""):
            took = time.perf_counter() - start
    if took is None:
        raise AssertionError(f"run {run.id} never printed its line: {run.get_details()}")
    return took
