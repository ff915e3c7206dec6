"""An endpoint beside ONNX Runtime by itself and beside `mlflow models serve`: the same model, one thread each, in turns, in one run.

The overhead is what a picture takes over HTTP less what it takes in ONNX Runtime by itself, decoding and all: medians of short turns that
follow each other, and the median of many such pairs. Both are asked for by the interpreter that the endpoint scores with, because a decoder
that only one of them has would be counted as overhead, or hide it. MLflow's server comes up after them: a third server on two cores is in the way of both.
`python -m benchmarks serve`, about two minutes and a half.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

from benchmarks import peer
from benchmarks.result import Result
from benchmarks.serve_env import ensure_serving

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "bench-net"
ROUNDS, SECONDS, CONNECTIONS = 3, 4, 4
OVERHEAD_MS, TIMES = 1.0, 2.0
PICTURE, JSON = ("picture.jpg", "image/jpeg"), ("tensor.json", "application/json")


def measure(ws: Any) -> list[Result]:
    python = ensure_serving()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        has_peer = _run([python, "serve_model.py", "make", folder])["mlflow"] and peer.is_there()
        ours, own_python = stack.enter_context(_endpoint(ws, folder))
        alone = _run([own_python, "serve_model.py", "beside", folder, str(ours)])
        theirs = stack.enter_context(_mlflow(python, folder)) if has_peer else None
        rounds = [_round(folder, ours, theirs) for _ in range(ROUNDS)]
        memory = _memory_mb(ws)
    found = {**alone, **{key: statistics.median(one[key] for one in rounds) for key in rounds[0]}}
    bare, mlflow = "ONNX Runtime by itself", "mlflow models serve"
    results = [
        Result("serve: overhead, one picture (JPEG)", found["picture_over_ms"], "ms", OVERHEAD_MS),
        Result("serve: overhead, one tensor (602 kB of .npy)", found["tensor_over_ms"], "ms", None),
        Result("serve: one picture, p50", found["ours_picture_ms"], "ms", None, found["picture_ms"], bare),
        Result(
            f"serve: pictures, {CONNECTIONS} connections", found["ours_pictures"], "req/s", None, more_is_better=True
        ),
    ]
    theirs_per_s = found.get("theirs_json")
    goal = TIMES * theirs_per_s if theirs_per_s else None
    what = f"serve: the same JSON of 150 k numbers, {CONNECTIONS} connections"
    results.append(Result(what, found["ours_json"], "req/s", goal, theirs_per_s, mlflow, True))
    if theirs_per_s:
        what = "serve: a picture as we take it, beside MLflow's JSON of it"
        results.append(Result(what, found["ours_pictures"], "req/s", None, theirs_per_s, mlflow, True))
        results.append(
            Result("serve: memory, front and scoring process", memory, "MB", None, found["theirs_mb"], mlflow)
        )
    assert not any(one[key] for one in (alone, *rounds) for key in one if key.endswith("wrong")), (alone, rounds)
    return results


def _round(folder: str, ours: int, theirs: Any) -> dict[str, float]:
    """As many as can be had."""
    found: dict[str, float] = {}
    for key, what in (("ours_pictures", PICTURE), ("ours_json", JSON)):
        told = _load(ours, "/score", folder, what)
        found[key], found[key + "_wrong"] = told["per_s"], told["wrong"]
    if theirs is not None:
        told = _load(theirs[0], "/invocations", folder, JSON)
        found.update(
            theirs_json=told["per_s"], theirs_json_wrong=told["wrong"], theirs_mb=peer.tree_memory_mb(theirs[1])
        )
    return found


def _load(port: int, path: str, folder: str, what: tuple[str, str]) -> dict[str, float]:
    body, sizes = os.path.join(folder, what[0]), (str(CONNECTIONS), str(SECONDS))
    return _run([sys.executable, "serve_load.py", str(port), path, body, what[1], *sizes])


def _run(command: list[str]) -> dict[str, Any]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.path.join(os.path.dirname(HERE), "src")
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[1:3]} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


@contextlib.contextmanager
def _endpoint(ws: Any, folder: str) -> Iterator[tuple[int, str]]:
    """(its port, the interpreter it scores with). The model is deployed without code, in the environment that such models get."""
    entries = []
    for name in sorted(os.listdir(os.path.join(folder, "ours"))):
        with open(os.path.join(folder, "ours", name), "rb") as f:
            data = f.read()
        sha = hashlib.sha256(data).hexdigest()
        ws.client.request("PUT", f"/content/{sha}", body=data)
        entries.append({"path": f"net/{name}", "sha256": sha, "size": len(data)})
    ws.client.request("POST", "/models", body={"name": NAME, "entries": entries, "framework": "Onnx"})
    body = {"name": NAME, "models": [{"name": NAME}], "config": {"cpu_cores": 1}, "overwrite": True}
    ws.client.request("POST", "/endpoints", body=body)
    try:
        until = time.monotonic() + 300
        while (found := ws.client.request("GET", f"/endpoints/{NAME}"))["operation"]["state"] == "Running":
            assert time.monotonic() < until, found
            time.sleep(0.1)
        assert found["state"] == "Healthy", found
        yield found["port"], found["versions"][0]["environment"]["python"]
    finally:
        ws.client.request("DELETE", f"/endpoints/{NAME}")


def _memory_mb(ws: Any) -> float:
    found = ws.client.request("GET", f"/endpoints/{NAME}")
    pids = [one["pid"] for version in found["versions"] for one in version["replicas"]]
    with open(os.path.join(ws.client.root, "serve", NAME, "front.json"), encoding="utf-8") as f:
        pids.append(json.load(f)["pid"])
    return sum(peer.tree_memory_mb(pid) for pid in pids)


@contextlib.contextmanager
def _mlflow(python: str, folder: str) -> Iterator[tuple[int, int]]:
    """(port, process) of `mlflow models serve` as it comes."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    environment = {**os.environ, "GIT_PYTHON_REFRESH": "quiet"}
    environment["PATH"] = os.path.dirname(python) + os.pathsep + environment["PATH"]
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [
        python,
        "-m",
        "mlflow",
        "models",
        "serve",
        "-m",
        os.path.join(folder, "theirs"),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    with open(os.path.join(folder, "mlflow.log"), "wb") as log:
        server = subprocess.Popen(
            [*command, "--env-manager", "local"],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + 120
        while True:
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=2) as answer,
            ):
                if answer.status == 200:
                    break
            if server.poll() is not None or time.monotonic() > until:
                with open(os.path.join(folder, "mlflow.log"), encoding="utf-8", errors="replace") as f:
                    raise RuntimeError("mlflow models serve did not come up:\n" + f.read()[-2000:])
            time.sleep(0.1)
        yield port, server.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
