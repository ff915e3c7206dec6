"""Starts a script of `horovod_ranks/` as several real processes and gathers what its checks said."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional

from rookery.testing import ports

__all__ = ["ROOT", "RanksFailed", "check_names", "clean_environment", "free_port", "run_ranks"]

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "horovod_ranks"
LAUNCHER_WORDS = ("OMPI_", "HOROVOD_", "PMIX_", "TORCHELASTIC", "AZ_BATCH", "ROOKERY_", "GLOO_", "PYTHON")
LAUNCHER_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")


class RanksFailed(AssertionError):
    """A rank did not get to its end."""


def check_names(script: str) -> list[str]:
    """The checks of a script, in their order."""
    tree = ast.parse((SCRIPTS / script).read_text())
    return [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("check_")]


def run_ranks(
    script: str,
    environments: list[dict[str, str]],
    folder: Path,
    python: str = sys.executable,
    timeout_s: float = 240,
) -> list[dict[str, Optional[str]]]:
    """For each rank {check: None, or its traceback}. One process per environment."""
    folder.mkdir(exist_ok=True)
    started = []
    for number, variables in enumerate(environments):
        result = folder / f"{number}.json"
        environment = {**clean_environment(), "PYTHONPATH": str(ROOT / "shims"), "OMP_NUM_THREADS": "1", **variables}
        command = [python, "-X", "faulthandler", "-W", "error::UserWarning:horovod", str(SCRIPTS / script), str(result)]
        with open(folder / f"{number}.log", "wb") as log:
            started.append((subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder), result))
    codes = _wait([process for process, _ in started], timeout_s)
    if any(codes):
        told = [f"--- {n}, last: {_last_check(result)}\n" for n, (_, result) in enumerate(started)]
        logs = [text + (folder / f"{n}.log").read_text()[-4000:] for n, text in enumerate(told)]
        raise RanksFailed(f"exit codes {codes}\n" + "\n".join(logs))
    return [json.loads(result.read_text()) for _, result in started]


def _wait(processes: list[subprocess.Popen[bytes]], timeout_s: float) -> list[int]:
    """Exit codes. Who is not done in time is ended with its Python stack in its log."""
    deadline = time.monotonic() + timeout_s
    codes = []
    for process in processes:
        try:
            codes.append(process.wait(max(deadline - time.monotonic(), 0)))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            codes.append(process.wait())
    return codes


def _last_check(result: Path) -> str:
    return str(list(json.loads(result.read_text()).items())[-1:]) if result.exists() else "none"


def clean_environment() -> dict[str, str]:
    """This process's variables without those of any launcher."""
    return {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_WORDS) and k not in LAUNCHER_NAMES}


def free_port() -> str:
    return str(ports.free_port())
