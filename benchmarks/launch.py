"""Starting two processes of DistributedDataParallel, and what they then compute, beside plain torchrun on the same machine.

The model is small and all computing (no loading), with one thread per process. Runs of each kind take turns, and the best of each
counts: what else the machine does in between can only make one slower.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time

from benchmarks.result import Result

ROUNDS = 3
REFERENCE_EFFICIENCY = 95.8  # the original's, from 8 to 16 GPUs
SCRIPT = """
import os, statistics, time
print("started %.6f" % time.time(), flush=True)
import torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
layers = [torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3, padding=1), torch.nn.ReLU(),
          torch.nn.Conv2d(32, 32, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
          torch.nn.Linear(32, 10)]
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(32, 3, 32, 32), torch.randint(10, (32,))
def steps(count):
    start = time.perf_counter()
    for _ in range(count):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    return count * len(y) * world / (time.perf_counter() - start)
steps(3)
speeds = [steps(5) for _ in range(6)]
if rank == 0:
    print("images/s %.3f" % statistics.median(speeds), flush=True)
dist.barrier(); dist.destroy_process_group()
"""


def measure(ws) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "train.py"), "w") as f:
            f.write(SCRIPT)
        ours, theirs, alone = [], [], []
        for _ in range(ROUNDS):
            ours.append(_ours(ws, folder, 2))
            theirs.append(_torchrun(folder, 2))
            alone.append(_ours(ws, folder, 1))
    speed, peer, single = (max(images for images, _ in runs) for runs in (ours, theirs, alone))
    started, peer_started = (min(start for _, start in runs) for runs in (ours, theirs))
    overhead = max(0.0, 100 * (1 - speed / peer))
    efficiency = 100 * speed / (2 * single)
    return [
        Result("launch → first line of the last of 2 ranks", started, "s", peer_started, peer_started, "torchrun"),
        Result("images/s of 2 ranks", speed, "images/s", None, peer, "torchrun", more_is_better=True),
        Result("launch overhead over torchrun, images/s", overhead, "%", 1.0),
        Result(
            "two-process scaling efficiency, one thread each",
            efficiency,
            "%",
            REFERENCE_EFFICIENCY,
            REFERENCE_EFFICIENCY,
            "reference page, 8 → 16 GPUs",
            more_is_better=True,
        ),
    ]


def _ours(ws, folder: str, processes: int) -> tuple[float, float]:
    """(images/s, seconds from submit to the first line of the last rank)."""
    from rookery.sdk import Environment, Experiment, ScriptRunConfig
    from rookery.sdk.distributed import PyTorchConfiguration

    env = Environment("bench")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = sys.executable
    env.environment_variables = {"OMP_NUM_THREADS": "1"}
    config = PyTorchConfiguration("Gloo", processes, 1)
    src = ScriptRunConfig(folder, script="train.py", environment=env, distributed_job_config=config)
    start = time.time()
    run = Experiment(ws, "bench-launch").submit(src)
    run.wait_for_completion()
    logs = run.get_details_with_logs()["logFiles"]
    return _read("\n".join(text for name, text in logs.items() if "70_driver_log" in name), start, processes)


def _torchrun(folder: str, processes: int) -> tuple[float, float]:
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc_per_node={processes}",
        "train.py",
    ]
    start = time.time()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True
    )
    return _read(done.stdout, start, processes)


def _read(text: str, start: float, processes: int) -> tuple[float, float]:
    started = [float(t) for t in re.findall(r"started (\d+\.\d+)", text)]
    speed = re.search(r"images/s (\S+)", text)
    if len(started) != processes or speed is None:
        raise AssertionError(f"the training did not run to its end: {text[-2000:]}")
    return float(speed.group(1)), max(started) - start
