"""An interpreter with pandas and pyarrow, for tests of tables: `.venv-data`, made at first use."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

from rookery.testing.checkout import ROOT, show_checkout

__all__ = ["ROOT", "ensure_data_python"]

FOLDER = os.path.join(ROOT, ".venv-data")
WANTED = ("pandas>=2", "pyarrow>=15")


def ensure_data_python() -> str:
    """Its path. It sees this checkout, and has nothing else of Rookery's.

    Raises:
        RuntimeError: it cannot be made here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with open(os.path.join(ROOT, ".venv-data.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if subprocess.run([python, "-c", "import pandas, pyarrow"], capture_output=True, check=False).returncode:
            _run([python, "-m", "pip", "install", "-q", "--no-input", *WANTED])
        show_checkout(python)
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode:
        raise RuntimeError(f"The environment with pandas cannot be made: {done.stderr[-1000:]}")
