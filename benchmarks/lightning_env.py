"""Lightning in an environment of its own (.venv-lightning), beside the torch that is measured."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv

__all__ = ["ensure_lightning"]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".venv-lightning")


def ensure_lightning() -> str:
    """Its interpreter, made at first use; torch and our own packages are seen through a path file, not installed again.

    Raises:
        RuntimeError: it cannot be installed here.
    """
    python, made = os.path.join(FOLDER, "bin", "python"), os.path.join(FOLDER, ".made")
    if os.path.exists(made):
        return python
    venv.create(FOLDER, with_pip=False)
    purelib = sysconfig.get_path("purelib", vars={"base": FOLDER, "platbase": FOLDER})
    with open(os.path.join(purelib, "beside.pth"), "w", encoding="utf-8") as f:
        seen = [path for path in sys.path if path.endswith("site-packages")]
        f.write("\n".join((*seen, os.path.join(ROOT, "src"))) + "\n")
    constraints = os.path.join(ROOT, "constraints.txt")  # or a newer torch would come, with gigabytes of CUDA
    command = [python, "-m", "pip", "install", "-q", "--no-input", "-c", constraints, "lightning"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"Lightning cannot be installed: {done.stderr[-500:]}")
    open(made, "w").close()
    return python
