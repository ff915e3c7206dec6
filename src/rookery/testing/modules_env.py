"""An interpreter that can run all image modules, for tests of whole pipelines: what this one has, and pyarrow. `.venv-modules`,
made at first use."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import sysconfig

from rookery.testing.checkout import ROOT, show_checkout

__all__ = ["ensure_modules_python"]

FOLDER = os.path.join(ROOT, ".venv-modules")
WANTED = ("pyarrow>=15",)
_TRY = (
    "import PIL, yaml, pyarrow, matplotlib, rookery_vision.stack"  # which imports torch and torchvision as modules do
)


def ensure_modules_python() -> str:
    """Its path, for the setting `modules_python`. Torch and the rest come from the interpreter that asks.

    Raises:
        RuntimeError: it cannot be made here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with open(FOLDER + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        show_checkout(python, sysconfig.get_paths()["purelib"])
        if subprocess.run([python, "-c", _TRY], capture_output=True, check=False).returncode:
            _run([python, "-m", "pip", "install", "-q", "--no-input", "--no-deps", *WANTED])
            _run([python, "-c", _TRY])
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"The interpreter for modules cannot be made: {done.stderr[-1000:]}")
