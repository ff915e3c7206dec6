"""An environment with Hugging Face's accelerate beside the torch that the tests have."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv

__all__ = ["make_accelerate"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def make_accelerate(folder: str) -> str:
    """The interpreter of a new environment in `folder`; torch is seen through a path file, not installed again.

    Raises:
        RuntimeError: accelerate cannot be installed here.
    """
    venv.create(folder, with_pip=False)
    python = os.path.join(folder, "bin", "python")
    purelib = sysconfig.get_path("purelib", vars={"base": folder, "platbase": folder})
    with open(os.path.join(purelib, "beside.pth"), "w", encoding="utf-8") as f:
        f.write(sysconfig.get_path("purelib") + "\n")
    constraints = os.path.join(ROOT, "constraints.txt")  # or a newer torch would come, with gigabytes of CUDA
    command = [python, "-m", "pip", "install", "-q", "--no-input", "-c", constraints, "accelerate"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"accelerate cannot be installed beside {sys.executable}: {done.stderr[-500:]}")
    return python
