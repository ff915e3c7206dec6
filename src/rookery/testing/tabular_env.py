"""An interpreter with pandas and scikit-learn, for tests of the tabular modules: `.venv-tabular`, made at first use."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

from rookery.testing.checkout import ROOT, show_checkout

__all__ = ["ROOT", "ensure_tabular_python"]

FOLDER = os.path.join(ROOT, ".venv-tabular")
# What the extra `tabular` asks for, and what its tests are run with.
WANTED = (
    "pandas>=2",
    "pyarrow>=15",
    "scikit-learn>=1.4",
    "matplotlib>=3.9",
    "pyyaml>=6",
    "pytest>=8",
    "pytest-timeout>=2.3",
    "hypothesis>=6.100",
)
_TRY = "import pandas, pyarrow, sklearn, matplotlib, yaml, pytest, pytest_timeout, hypothesis"


def ensure_tabular_python() -> str:
    """Its path. It sees this checkout, and has nothing else of Rookery's.

    Raises:
        RuntimeError: it cannot be made here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with open(FOLDER + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if subprocess.run([python, "-c", _TRY], capture_output=True, check=False).returncode:
            _run([python, "-m", "pip", "install", "-q", "--no-input", *WANTED])
        show_checkout(python)
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode:
        raise RuntimeError(f"The environment with scikit-learn cannot be made: {done.stderr[-1000:]}")
