"""How long a keeper takes to answer from nothing, and what it holds in memory after some work."""

from __future__ import annotations

import os
import statistics
import tempfile
import time

from benchmarks import peer
from benchmarks.result import Result


def measure(ws) -> list[Result]:
    from rookery.client import Client
    from rookery.client.folder import create_workspace

    starts = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(4):
            root = os.path.join(folder, f"ws{i}")
            create_workspace(root, f"bench{i}")
            begin = time.perf_counter()
            client = Client.for_workspace(root)
            client.request("GET", "/hello")
            starts.append(time.perf_counter() - begin)
            client.request("POST", "/keeper/stop")
    memory = peer.tree_memory_mb(ws.client.request("GET", "/keeper")["pid"])
    their_start = their_memory = None
    if peer.is_there():
        with tempfile.TemporaryDirectory() as folder, peer.mlflow_server(folder) as server:
            their_start, their_memory = server.start_s, server.memory_mb
    return [
        Result("keeper: start to first answer", statistics.median(starts), "s", 1.0, their_start, "mlflow server"),
        Result("keeper: memory after the benchmarks above", memory, "MB", 100, their_memory, "mlflow server, idle"),
    ]
