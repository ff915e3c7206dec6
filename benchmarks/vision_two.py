"""Train PyTorch Model on two processes of one thread each, beside twice one process, and beside two that do not talk to each other.

The last is what the machine's two cores can give at most: they share caches, memory and clock. Speeds are those of the best later epoch, as the
training itself tells them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

from benchmarks.result import Result

__all__ = ["two_processes"]

EPOCHS = 4
TOLD = re.compile(r"^Epoch (\d+)/\d+: .* ([\d.]+) images/s", re.MULTILINE)


def two_processes(folder: str, batch: int, edge: int, rate: float) -> list[Result]:
    with tempfile.TemporaryDirectory() as work:
        words = _words(folder, work, batch, edge, rate)
        env = {**os.environ, "OMP_NUM_THREADS": "1", "ROOKERY_VISION_CACHE": os.path.join(work, "decoded")}
        alone = _speed(_start(words, os.path.join(work, "a"), env))
        talking = _speed(_start(words, os.path.join(work, "b"), env, world=2))
        pair = [_start(words, os.path.join(work, name), env) for name in "cd"]
        silent = sum(_speed(one) for one in pair)
    return [
        _percent("training on two processes, of twice one", talking, 2 * alone, "twice one process"),
        _percent("  the same, of two that do not talk", talking, silent, "what the machine gives"),
        Result("  images/s of the two", talking, "images/s", None, alone, "one process", more_is_better=True),
    ]


def _percent(what: str, speed: float, most: float, peer_name: str) -> Result:
    return Result(what, 100 * speed / most, "%", None, 100.0, peer_name, more_is_better=True)


def _words(folder: str, work: str, batch: int, edge: int, rate: float) -> list[str]:
    from rookery_vision import resnet

    network = resnet(os.path.join(work, "network"), model_name="resnet18", pretrained=False)
    data = [os.path.join(folder, part + "-directory") for part in ("train", "validation")]
    return [
        "train_pytorch_model",
        f"--untrained-model={network}",
        f"--training-dataset={data[0]}",
        f"--validation-dataset={data[1]}",
        f"--epochs={EPOCHS}",
        f"--patience={EPOCHS}",
        f"--batch-size={batch}",
        f"--image-size={edge}",
        f"--learning-rate={rate}",
        "--augmentation=Crop and flip",
    ]


def _start(words: list[str], output: str, env: dict[str, str], world: int = 1) -> subprocess.Popen[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={world}"] if world > 1 else []
    command = [sys.executable, *launcher, "-m", "rookery_vision", *words, f"--trained-model={output}"]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _speed(process: subprocess.Popen[str]) -> float:
    out, errors = process.communicate()
    speeds = [float(speed) for epoch, speed in TOLD.findall(out) if int(epoch) > 1]
    if process.returncode or not speeds:
        raise RuntimeError(f"the training failed: {errors[-2000:] or out[-2000:]}")
    return max(speeds)
