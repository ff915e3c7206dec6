"""MLflow, in its own environment (.venv-mlflow), measured beside us."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PYTHON", "PeerServer", "is_there", "mlflow_server", "run_in_peer", "tree_cpu_s", "tree_memory_mb"]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = os.path.join(ROOT, ".venv-mlflow", "bin", "python")


@dataclass(frozen=True)
class PeerServer:
    address: str
    start_s: float  # until it answered
    memory_mb: float  # of its processes, at that moment
    pid: int


def is_there() -> bool:
    return os.path.exists(PYTHON)


def run_in_peer(code: str, *args: str, timeout_s: float = 300) -> dict:
    """Run a program that prints one JSON object as its last line."""
    env = {**os.environ, "MLFLOW_ENABLE_ASYNC_LOGGING": "false", "GIT_PYTHON_REFRESH": "quiet"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-c", code, *args],
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"the peer failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


@contextlib.contextmanager
def mlflow_server(folder: str, workers: int = 0) -> Iterator[PeerServer]:
    """A real MLflow server on SQLite. workers 0: as many as it takes by itself."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = {**os.environ, "GIT_PYTHON_REFRESH": "quiet"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [
        PYTHON,
        "-m",
        "mlflow",
        "server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--backend-store-uri",
        f"sqlite:///{folder}/mlflow.db",
        "--artifacts-destination",
        f"{folder}/artifacts",
        *(["--workers", str(workers)] if workers else []),
    ]
    start = time.perf_counter()
    with open(os.path.join(folder, "server.log"), "wb") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=folder, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(address + "/health", timeout=2) as answer:
                if answer.status == 200:
                    break
            if server.poll() is not None or time.perf_counter() - start > 120:
                raise RuntimeError("the MLflow server did not start; see its log in " + folder)
            time.sleep(0.05)
        took = time.perf_counter() - start
        yield PeerServer(address, took, tree_memory_mb(server.pid), server.pid)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def tree_memory_mb(pid: int) -> float:
    """Resident memory of a process and its descendants (shared pages counted once where the kernel says: Pss)."""
    total = 0.0
    for one in _tree(pid):
        with contextlib.suppress(OSError), open(f"/proc/{one}/smaps_rollup") as f:
            total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024
    return total


def tree_cpu_s(pid: int) -> float:
    """Processor time of a process and its descendants. Other work on the machine changes it less than it does the clock."""
    ticks = 0
    for one in _tree(pid):
        with contextlib.suppress(OSError), open(f"/proc/{one}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _tree(pid: int) -> Iterator[int]:
    todo = [pid]
    while todo:
        current = todo.pop()
        yield current
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{current}/task"):
                with open(f"/proc/{current}/task/{task}/children") as f:
                    todo += [int(p) for p in f.read().split()]
