"""A real MLflow client in an environment of its own: `.venv-mlflow`, the one that `make bench` has too."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

__all__ = ["ROOT", "ensure_client"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, ".venv-mlflow")
# torch by its exact version: see constraints.txt.
WANTED = ("mlflow==3.17.2", "pytest", "scikit-learn", "torch==2.13.0", "lightning")
_CHECK = (
    "import importlib.metadata as m; [m.version(n) for n in ('mlflow', 'pytest', 'scikit-learn', 'torch', 'lightning')]"
)


def ensure_client() -> str:
    """Its interpreter; made at first use, once, whoever else asks at the same time.

    Raises:
        RuntimeError: it cannot be made here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with open(os.path.join(ROOT, ".venv-mlflow.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if subprocess.run([python, "-c", _CHECK], capture_output=True, check=False).returncode:
            constraints = os.path.join(ROOT, "constraints.txt")
            _run([python, "-m", "pip", "install", "-q", "--no-input", "-c", constraints, *WANTED])
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode:
        raise RuntimeError(f"The MLflow client's environment cannot be made: {done.stderr[-1000:]}")
