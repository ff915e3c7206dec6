"""Environments: one that is built, a new small one, and a second one with torch, beside `python -m venv` and pip."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.result import Result, median_of

SMALL = ("rich", "idna")
TORCH = ("torch", "numpy")
ONE_MORE = "idna"
PEER = "python -m venv + pip"


def measure(ws) -> list[Result]:
    from rookery import environments
    from rookery.environments.building import builder, store

    small, torch, second = (_spec(*p) for p in (SMALL, TORCH, (*TORCH, ONE_MORE)))
    small_s = _timed(lambda: builder.build(small, _silent))
    ready_s = median_of(30, lambda: environments.prepared(small))
    assert environments.prepared(small), "what was built is not known"
    first_torch_s = _timed(lambda: builder.build(torch, _silent))
    built = []
    second_s = _timed(lambda: built.append(builder.build(second, _silent)))
    own_mb = store.show_environment(built[0].key).disk.own_bytes / 1e6
    with tempfile.TemporaryDirectory(prefix="rookery-bench-venv-") as folder:
        pip_small_s = _timed(lambda: _venv(os.path.join(folder, "small"), _pins(small), SMALL))
        pip_torch_s = _timed(lambda: _venv(os.path.join(folder, "torch"), _pins(second), (*TORCH, ONE_MORE)))
        pip_mb = sum(store.disk_use(os.path.join(folder, "torch")).__dict__.values()) / 1e6
    return [
        Result("environment that is built: specification → ready", ready_s, "s", 0.05),
        Result("new small environment, resolved, built and imported", small_s, "s", None, pip_small_s, PEER),
        Result("first environment with torch", first_torch_s, "s", None, pip_torch_s, PEER),
        Result("second with torch, one small package more", second_s, "s", 10.0, pip_torch_s, PEER),
        Result("second with torch: disk of its own", own_mb, "MB", 50.0, pip_mb, PEER),
    ]


def _spec(*packages: str):
    from rookery.spec.run import EnvironmentSpec

    python = "python={}.{}".format(*sys.version_info)
    return EnvironmentSpec(name="bench", conda={"dependencies": [python, {"pip": list(packages)}]})


def _silent(data: bytes) -> None:
    """Nobody reads the log."""


def _timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _pins(spec) -> list[str]:
    """What was asked for at the versions that we got: left alone, pip may take a torch of some gigabytes more."""
    from rookery.environments.building import builder, store

    lock = store.show_environment(builder.known(spec).key).lock
    lines = [line.split(" ")[0] for line in lock.packages.splitlines() if "==" in line]
    return [line for line in lines if line.partition("==")[0] in lock.asked]


def _venv(folder: str, packages: Sequence[str], modules: Sequence[str]) -> None:
    """What people do by hand; ends with an import, as our build does."""
    python = os.path.join(folder, "bin", "python")
    pip = [python, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", folder],
        [*pip, *packages],
        [python, "-c", "; ".join(f"import {name}" for name in modules)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command[:4])} … failed:\n{done.stderr[-2000:]}")
