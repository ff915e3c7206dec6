"""ONNX Runtime and MLflow's scoring server in an environment of their own (.venv-serving), over the MLflow of .venv-mlflow."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv

from benchmarks import peer

__all__ = ["ensure_serving"]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".venv-serving")
WANTED = ("onnx", "onnxruntime", "numpy", "pillow", "pyyaml", "orjson")


def ensure_serving() -> str:
    """Its interpreter, made at first use.

    Raises:
        RuntimeError: it cannot be installed here.
    """
    python, made = os.path.join(FOLDER, "bin", "python"), os.path.join(FOLDER, ".made")
    if os.path.exists(made):
        return python
    venv.create(FOLDER, with_pip=True)
    purelib = sysconfig.get_path("purelib", vars={"base": FOLDER, "platbase": FOLDER})
    seen = [os.path.join(ROOT, "src")]
    if peer.is_there():
        asked = [peer.PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        seen.insert(0, subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    with open(os.path.join(purelib, "beside.pth"), "w", encoding="utf-8") as f:
        f.write("\n".join(seen) + "\n")
    # MLflow starts uvicorn by its name: there must be one that belongs to this interpreter.
    for wanted in (WANTED, ("--force-reinstall", "--no-deps", "uvicorn")):
        command = [python, "-m", "pip", "install", "-q", "--no-input", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            raise RuntimeError(f"ONNX Runtime cannot be installed beside {sys.executable}: {done.stderr[-500:]}")
    open(made, "w").close()
    return python
