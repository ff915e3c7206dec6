"""Starting two processes of DistributedDataParallel, and what they then compute, beside plain torchrun on the same machine.

`scaling_script.py` is what they run. Starts of each kind take turns, and the best counts: what else the machine does can only make one
slower. Speeds are compared round by round: our job and torchrun's run at the same time and take turns, so that the rounds of a pair lie a
second apart, and the median of the pairs counts. A round has one process alone, two that do not talk (what this machine's two cores
can give at most: they share caches, memory and clock), and two with DDP.
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

STARTS = 3
REFERENCE_EFFICIENCY = 95.8  # the original's, from 8 to 16 GPUs


class Speeds(NamedTuple):
    images_per_s: list[float]  # of each round with DDP
    ceiling: float
    efficiency: float
    by_cpu_time: float


def measure(ws) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as turns:
        shutil.copy(os.path.join(os.path.dirname(__file__), "scaling_script.py"), os.path.join(folder, "train.py"))
        starts = [(_our_start(ws, folder), _torchrun_start(folder)) for _ in range(STARTS)]
        ours, theirs = _side_by_side(ws, folder, turns)
    started, peer_started = (min(one) for one in zip(*starts))
    speed, peer_speed = (statistics.median(one.images_per_s) for one in (ours, theirs))
    share = statistics.median(mine / other for mine, other in zip(ours.images_per_s, theirs.images_per_s))
    ceiling = statistics.median((ours.ceiling, theirs.ceiling))
    return [
        Result("launch → first line of the last of 2 ranks", started, "s", peer_started, peer_started, "torchrun"),
        Result("images/s of 2 ranks", speed, "images/s", None, peer_speed, "torchrun", more_is_better=True),
        Result("launch overhead over torchrun, images/s", max(0.0, 100 * (1 - share)), "%", 1.0),
        _percent(
            "two-process scaling efficiency, one thread each",
            ours.efficiency,
            REFERENCE_EFFICIENCY,
            "reference page, 8 → 16 GPUs",
        ),
        _percent("  the same, beside torchrun", ours.efficiency, theirs.efficiency, "torchrun", goal=None),
        _percent(
            "  the same, beside two processes that do not talk",
            ours.efficiency,
            ceiling,
            "what the machine gives",
            goal=None,
        ),
        _percent(
            "  the same, by CPU time: what DDP costs", ours.by_cpu_time, theirs.by_cpu_time, "torchrun", goal=None
        ),
    ]


def _percent(what: str, value: float, peer: float, peer_name: str, goal: float | None = REFERENCE_EFFICIENCY) -> Result:
    return Result(what, value, "%", goal, peer, peer_name, more_is_better=True)


def _side_by_side(ws, folder: str, turns: str) -> tuple[Speeds, Speeds]:
    """The rounds of our job and of torchrun's, in turns."""
    for name in "01":
        os.mkfifo(os.path.join(turns, name))
    hold = os.open(os.path.join(turns, "0"), os.O_RDWR)
    try:
        run = _submit(ws, folder, {"BENCH_TURNS": turns, "BENCH_PLACE": "0"})
        torchrun = _torchrun(folder, {"BENCH_TURNS": turns, "BENCH_PLACE": "1"})
        os.write(hold, b".")
        text, _ = torchrun.communicate()
        run.wait_for_completion()
    finally:
        os.close(hold)
    return _read(_log_of(run)), _read(text)


def _our_start(ws, folder: str) -> float:
    start = time.time()
    run = _submit(ws, folder, {"BENCH_ONLY_START": "1"})
    run.wait_for_completion()
    return _started(_log_of(run)) - start


def _torchrun_start(folder: str) -> float:
    start = time.time()
    text, _ = _torchrun(folder, {"BENCH_ONLY_START": "1"}).communicate()
    return _started(text) - start


def _submit(ws, folder: str, variables: dict[str, str]):
    from rookery.sdk import Environment, Experiment, ScriptRunConfig
    from rookery.sdk.distributed import PyTorchConfiguration

    env = Environment("bench")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = sys.executable
    env.environment_variables = {"OMP_NUM_THREADS": "1", **variables}
    config = PyTorchConfiguration("Gloo", 2, 1)
    src = ScriptRunConfig(folder, script="train.py", environment=env, distributed_job_config=config)
    return Experiment(ws, "bench-launch").submit(src)


def _log_of(run) -> str:
    logs = run.get_details_with_logs()["logFiles"]
    return "\n".join(text for name, text in logs.items() if "70_driver_log" in name)


def _torchrun(folder: str, variables: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "train.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)


def _started(text: str) -> float:
    """When the last of the two ranks had started."""
    started = [float(t) for t in re.findall(r"started (\d+\.\d+)", text)]
    if len(started) != 2:
        raise AssertionError(f"two ranks did not start: {text[-2000:]}")
    return max(started)


def _read(text: str) -> Speeds:
    found = {
        name: re.search(rf"^{name} (.+)", text, re.MULTILINE)
        for name in ("images/s", "ceiling", "efficiency", "by_cpu_time")
    }
    if None in found.values():
        raise AssertionError(f"the training did not run to its end: {text[-2000:]}")
    images, *rest = ([float(word) for word in match.group(1).split()] for match in found.values() if match)
    return Speeds(images, *(one[0] for one in rest))
