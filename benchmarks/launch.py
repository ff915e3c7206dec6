"""Starting two processes of DistributedDataParallel, and what they then compute, beside plain torchrun on the same machine.

`scaling_script.py` is what they run. Launches of each kind take turns. Of speeds and starts the best counts: what else the machine does can
only make one slower. Ratios are medians of rounds that lie a second apart, each with one process alone, two that do not talk (what this
machine's two cores can give at most: they share caches, memory and clock), and two with DDP.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from benchmarks.result import Result

LAUNCHES = 3
REFERENCE_EFFICIENCY = 95.8  # the original's, from 8 to 16 GPUs


class Measured(NamedTuple):
    images_per_s: float
    ceiling: float
    efficiency: float
    by_cpu_time: float
    started_s: float


def measure(ws) -> list[Result]:
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(os.path.dirname(__file__), "scaling_script.py"), os.path.join(folder, "train.py"))
        for _ in range(LAUNCHES):
            ours.append(_ours(ws, folder))
            theirs.append(_torchrun(folder))
    speed, peer_speed = (max(m.images_per_s for m in runs) for runs in (ours, theirs))
    started, peer_started = (min(m.started_s for m in runs) for runs in (ours, theirs))
    efficiency, peer_efficiency = (statistics.median(m.efficiency for m in runs) for runs in (ours, theirs))
    by_cpu_time, peer_by_cpu_time = (statistics.median(m.by_cpu_time for m in runs) for runs in (ours, theirs))
    ceiling = statistics.median(m.ceiling for m in (*ours, *theirs))
    return [
        Result("launch → first line of the last of 2 ranks", started, "s", peer_started, peer_started, "torchrun"),
        Result("images/s of 2 ranks", speed, "images/s", None, peer_speed, "torchrun", more_is_better=True),
        Result("launch overhead over torchrun, images/s", max(0.0, 100 * (1 - speed / peer_speed)), "%", 1.0),
        _percent(
            "two-process scaling efficiency, one thread each",
            efficiency,
            REFERENCE_EFFICIENCY,
            "reference page, 8 → 16 GPUs",
        ),
        _percent("  the same, beside torchrun", efficiency, peer_efficiency, "torchrun", goal=None),
        _percent(
            "  the same, beside two processes that do not talk",
            efficiency,
            ceiling,
            "what the machine gives",
            goal=None,
        ),
        _percent("  the same, by CPU time: what DDP costs", by_cpu_time, peer_by_cpu_time, "torchrun", goal=None),
    ]


def _percent(what: str, value: float, peer: float, peer_name: str, goal: float | None = REFERENCE_EFFICIENCY) -> Result:
    return Result(what, value, "%", goal, peer, peer_name, more_is_better=True)


def _ours(ws, folder: str) -> Measured:
    from rookery.sdk import Environment, Experiment, ScriptRunConfig
    from rookery.sdk.distributed import PyTorchConfiguration

    env = Environment("bench")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = sys.executable
    env.environment_variables = {"OMP_NUM_THREADS": "1"}
    config = PyTorchConfiguration("Gloo", 2, 1)
    src = ScriptRunConfig(folder, script="train.py", environment=env, distributed_job_config=config)
    start = time.time()
    run = Experiment(ws, "bench-launch").submit(src)
    run.wait_for_completion()
    logs = run.get_details_with_logs()["logFiles"]
    return _read("\n".join(text for name, text in logs.items() if "70_driver_log" in name), start)


def _torchrun(folder: str) -> Measured:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "train.py"]
    start = time.time()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True
    )
    return _read(done.stdout, start)


def _read(text: str, start: float) -> Measured:
    started = [float(t) for t in re.findall(r"started (\d+\.\d+)", text)]
    found = [
        re.search(rf"^{name} (\S+)", text, re.MULTILINE)
        for name in ("images/s", "ceiling", "efficiency", "by_cpu_time")
    ]
    if len(started) != 2 or None in found:
        raise AssertionError(f"the training did not run to its end: {text[-2000:]}")
    return Measured(*(float(match.group(1)) for match in found if match), started_s=max(started) - start)
