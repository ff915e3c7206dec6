"""An interpreter with pandas and pyarrow, for tests of tables: `.venv-data`, made at first use."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

__all__ = ["ROOT", "ensure_data_python"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
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
        site = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        with open(os.path.join(site, "rookery-checkout.pth"), "w") as f:
            f.write(os.path.join(ROOT, "src") + "\n")
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode:
        raise RuntimeError(f"The environment with pandas cannot be made: {done.stderr[-1000:]}")
