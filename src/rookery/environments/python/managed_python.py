"""Interpreters that are not here yet: asked for once from each source, and not again for a day where it has
none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from rookery.environments.building.flocks import hold_lock
from rookery.environments.building.folders import cache_folder
from rookery.environments.conda.python import from_conda_channel
from rookery.environments.python.pip_config import read_pip_config
from rookery.environments.python.uv_program import find_uv, run_program
from rookery.errors import EnvironmentBuildError

__all__ = ["PYTHON_SOURCES", "PythonSource", "obtain_python"]

REMEMBER_S = 24 * 3600.0
MAX_S = 300.0

# Gets an exact version, a sink for its words and a deadline; returns whether one was installed where
# `installed()` looks.
PythonSource = Callable[[str, Callable[[bytes], None], float], bool]


def obtain_python(version: str, log: Callable[[bytes], None], deadline: float) -> bool:
    """Try every source in turn for an exact version. Whether one had it."""
    mark = os.path.join(cache_folder(), f"no-python-{version}")
    if time.time() - _modified(mark) < REMEMBER_S:
        return False
    with hold_lock(f"python-{version}", deadline):
        if time.time() - _modified(mark) < REMEMBER_S:
            return False
        for source in PYTHON_SOURCES:
            if source(version, log, min(deadline, time.monotonic() + MAX_S)):
                return True
        os.makedirs(cache_folder(), exist_ok=True)
        with open(mark, "w", encoding="utf-8") as f:
            f.write("no source had it\n")
        return False


def from_uv(version: str, log: Callable[[bytes], None], deadline: float) -> bool:
    """uv's own builds, downloaded into uv's folder."""
    environment = {**read_pip_config().environment(os.environ), "UV_HTTP_RETRIES": "0"}
    log(f"Python {version} is not on this machine; asking uv for it\n".encode())
    try:
        finished = run_program(
            [find_uv(), "--no-config", "--color", "never", "python", "install", "--no-bin", version],
            environment,
            log,
            deadline,
            MAX_S,
        )
    except EnvironmentBuildError as error:
        log(f"{error}\n".encode())
        return False
    return finished.code == 0


PYTHON_SOURCES: list[PythonSource] = [from_conda_channel, from_uv]


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
