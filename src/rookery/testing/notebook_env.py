"""What a notebook's live widget needs, in a folder of its own that a kernel gets on its path."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import sysconfig

__all__ = ["ensure_notebook_packages"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, ".venv-notebook")
WANTED = ("anywidget>=0.9",)


def ensure_notebook_packages() -> str:
    """The folder to put last on a kernel's path; made at first use, once, whoever else asks at the same time.

    Raises:
        RuntimeError: it cannot be made here.
    """
    python = os.path.join(FOLDER, "bin", "python")
    with open(os.path.join(ROOT, ".venv-notebook.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(python):
            _run([sys.executable, "-m", "venv", FOLDER])
        if subprocess.run([python, "-c", "import anywidget"], capture_output=True, check=False).returncode:
            _run([python, "-m", "pip", "install", "-q", "--no-input", *WANTED])
    return sysconfig.get_path("purelib", vars={"base": FOLDER, "platbase": FOLDER})


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"The notebook tests' environment cannot be made: {done.stderr[-1000:]}")
