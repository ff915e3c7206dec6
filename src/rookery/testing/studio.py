"""The studio's files for tests that serve or open it."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["ensure_studio"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def ensure_studio() -> str:
    """The folder of the built studio; built where it is missing or older than its sources (with a Node from PyPI where none is here).

    Raises:
        RuntimeError: it cannot be built here.
    """
    command = [sys.executable, os.path.join(ROOT, "studio", "build.py"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"The studio cannot be built: {(done.stderr + done.stdout)[-3000:]}")
    return os.path.join(ROOT, "src", "rookery", "server", "static")
