"""Schemathesis in an environment of its own, `.venv-schemathesis`: it asks an API everything that its OpenAPI allows, and more."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

from rookery.testing.mlflow_client import ROOT

__all__ = ["ensure_schemathesis"]

FOLDER = os.path.join(ROOT, ".venv-schemathesis")
WANTED = "schemathesis==4.32.5"


def ensure_schemathesis() -> str:
    """Its program; installed at first use, once, whoever else asks at the same time.

    Raises:
        RuntimeError: it cannot be installed here.
    """
    python, program = (os.path.join(FOLDER, "bin", name) for name in ("python", "st"))
    with open(FOLDER + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if not os.path.exists(program):
            _run([python, "-m", "pip", "install", "-q", "--no-input", WANTED])
    return program


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"Schemathesis' environment cannot be made: {done.stderr[-1000:]}")
