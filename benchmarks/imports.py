"""What `import rookery` costs a process that is up already."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from benchmarks import peer
from benchmarks.result import Result

CODE = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def measure(ws) -> list[Result]:
    theirs = _seconds(peer.PYTHON, "mlflow", 3) * 1000 if peer.is_there() else None
    return [
        Result("import rookery", _seconds(sys.executable, "rookery", 7) * 1000, "ms", 60.0, theirs, "import mlflow"),
        Result(
            "from azureml.core import Workspace, Run",
            _seconds(sys.executable, "azureml.core; from azureml.core import Workspace, Run", 7) * 1000,
            "ms",
            None,
        ),
    ]


def _seconds(python: str, module: str, times: int) -> float:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    taken = [
        float(
            subprocess.run(
                [python, "-W", "ignore", "-c", CODE.format(module)], env=env, capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(times + 1)
    ]
    return statistics.median(taken[1:])  # the first one writes bytecode
