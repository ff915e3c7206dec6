"""A real TensorBoard in an environment of its own: what writes event files, and what reads them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

__all__ = ["ensure_tensorboard"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, ".venv-tensorboard")
WANTED = ("tensorboard", "tensorboardX", "setuptools<81")


def ensure_tensorboard() -> str:
    """Its interpreter; made at first use, once, whoever else asks at the same time.

    Raises:
        RuntimeError: it cannot be made here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with open(os.path.join(ROOT, ".venv-tensorboard.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if subprocess.run(
            [python, "-c", "import tensorboard, tensorboardX"], capture_output=True, check=False
        ).returncode:
            _run([python, "-m", "pip", "install", "-q", "--no-input", *WANTED])
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"TensorBoard's environment cannot be made: {done.stderr[-1000:]}")
