"""Our answers to MLflow's calls beside MLflow's own server (`--workers 1`, its quickest) on SQLite, by the same loader in the same
run, in turns (`mlflow_load.py` says what each row measures)."""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from typing import Optional

from benchmarks import peer
from benchmarks.mlflow_fill import fill_ours, fill_theirs
from benchmarks.mlflow_load import CONNECTIONS, Target, client_writes, raw_writes, searches
from benchmarks.result import Result

FEW, MANY = 10_000, 100_000
ROUNDS = 3
TIMES = 20  # as many values per second as MLflow, at least


def measure(ws) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        theirs = _start_theirs(stack, folder) if peer.is_there() else None
        ours = _start_ours(stack, folder, FEW)
        _measure_both(ours, theirs)
        ours = {**ours.found, **_measure_many(folder)}
        theirs = theirs.found if theirs else {}
    name = "mlflow server -w 1"
    rows = (
        ("log_metric calls/s, one connection", "log_metric", "calls/s", None, True),
        (f"log_metric calls/s, {CONNECTIONS} connections", "log_metric_many", "calls/s", None, True),
        ("log_metric, processor of the server", "log_metric_cpu_ms", "ms/call", None, False),
        ("log_metric calls/s, MLflow's client", "client_metric", "calls/s", None, True),
        ("log_batch of 1000, one connection", "log_batch", "values/s", TIMES, True),
        (f"log_batch of 1000, {CONNECTIONS} connections", "log_batch_many", "values/s", TIMES, True),
        ("log_batch of 1000, processor of the server", "log_batch_cpu_ms", "ms/call", None, False),
        ("log_batch of 1000, MLflow's client", "client_batch", "values/s", None, True),
        ("runs created, one connection", "create", "runs/s", None, True),
        (f"runs created, {CONNECTIONS} connections", "create_many", "runs/s", None, True),
        ("search_runs, filter and order, 10 k runs", "filtered", "s", None, False),
        ("search_runs, first page of 10 k runs", "page", "s", None, False),
        ("start to first answer", "start", "s", 1.0, False),
        ("memory after this", "memory", "MB", 100, False),
    )
    results = []
    for what, key, unit, goal, more in rows:
        if goal == TIMES:
            goal = TIMES * theirs[key] if key in theirs else None
        if key in ours:
            results.append(Result("mlflow: " + what, ours[key], unit, goal, theirs.get(key), name, more))
    results.append(Result("mlflow: search_runs, filter and order, 100 k runs", ours["filtered_many"], "s", 0.5))
    results.append(Result("mlflow: search_runs, first page of 100 k runs", ours["page_many"], "s", 0.05))
    return results


@dataclass
class Side:
    """One of the two servers, and what was found."""

    target: Target
    address: str  # as a client is given it
    num_calls: int  # of a round: so many that it lasts about as long as the other's
    found: dict[str, float]


def _measure_both(ours: Side, theirs: Optional[Side]) -> None:
    """Both are up all the time and are measured in turns: whatever else the machine does, it does it to both."""
    sides = [side for side in (ours, theirs) if side is not None]
    rounds: list[list[dict[str, float]]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for side, found in zip(sides, rounds):
            found.append({**searches(side.target), **raw_writes(side.target, side.num_calls)})
            if theirs is not None:
                found[-1].update(client_writes(side.address, side.num_calls // 4))
    for side, found in zip(sides, rounds):
        side.found.update({key: statistics.median(one[key] for one in found) for key in found[0]})
        side.found["memory"] = peer.tree_memory_mb(side.target.pid)


def _measure_many(folder: str) -> dict[str, float]:
    with contextlib.ExitStack() as stack:
        found = searches(_start_ours(stack, folder, MANY).target)
    return {name + "_many": value for name, value in found.items()}


def _start_ours(stack: contextlib.ExitStack, folder: str, num_runs: int) -> Side:
    from rookery.client import Client
    from rookery.client.folder import create_workspace

    root = os.path.join(folder, f"ours{num_runs}")
    create_workspace(root, f"bench{num_runs}")
    fill_ours(root, num_runs)
    begin = time.perf_counter()
    client = Client.for_workspace(root)
    made = client.request("POST", "/tokens/tracking")
    took = time.perf_counter() - begin
    stack.callback(client.request, "POST", "/keeper/stop")
    target = Target(f"http://127.0.0.1:{made['port']}", client.request("GET", "/keeper")["pid"], made["token"])
    return Side(target, target.address.replace("://", f"://rookery:{made['token']}@"), 400, {"start": took})


def _start_theirs(stack: contextlib.ExitStack, folder: str) -> Side:
    place = os.path.join(folder, "theirs")
    os.makedirs(place)
    with peer.mlflow_server(place, workers=1) as first:
        pass  # makes the database
    fill_theirs(os.path.join(place, "mlflow.db"), FEW)
    server = stack.enter_context(peer.mlflow_server(place, workers=1))
    start = min(first.start_s, server.start_s)
    return Side(Target(server.address, server.pid), server.address, 40, {"start": start})
