"""Readers that leave in the middle: no file of theirs stays open."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import time

import pytest

MB = 1024 * 1024
SIZE = 12 * MB  # more than the buffers of both sides hold


def open_files(below):
    """Of this process, which is the server's too."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            path = os.readlink(f"/proc/self/fd/{fd}")
            if path.startswith(str(below)) and "record.db" not in path and "lease" not in path:
                found.append(path)
    return found


@pytest.fixture
def large(api):
    """A run with a large artifact, log, checkpoint, model and snapshot; → the paths at which each is read."""
    api.run()
    api.owner.post("/agent/run-1/1/0/running", json={})
    data = os.urandom(SIZE)
    sha256 = hashlib.sha256(data).hexdigest()
    assert api.owner.put("/runs/run-1/artifacts/outputs/m.pt", content=data).status_code == 201
    assert api.owner.put("/agent/run-1/1/0/checkpoints/c.pt", content=data).status_code == 201
    for offset in range(0, SIZE, 4 * MB):
        part = data[offset : offset + 4 * MB]
        posted = api.owner.post("/agent/run-1/1/0/log", params={"name": "logs/l.txt", "offset": offset}, content=part)
        assert posted.status_code == 200
    api.owner.post("/models", json={"name": "birds", "run_id": "run-1", "path": "outputs/m.pt"})
    entry = {"path": "m.pt", "sha256": sha256, "size": SIZE, "mode": 420, "link": None}
    snapshot = api.owner.post("/snapshots", json={"entries": [entry]}).json()["id"]
    experiment = api.owner.get("/experiments/birds").json()["id"]
    return [
        "/api/v1/runs/run-1/artifacts/outputs/m.pt",
        f"/api/v1/content/{sha256}",
        "/api/v1/runs/run-1/logs/logs/l.txt",
        "/api/v1/runs/run-1/artifacts/logs/l.txt",
        "/api/v1/agent/run-1/1/0/checkpoints/c.pt",
        "/api/v1/models/birds/1/files/m.pt",
        f"/api/v1/snapshots/{snapshot}/zip",
        f"/api/2.0/mlflow-artifacts/artifacts/{experiment}/run-1/artifacts/outputs/m.pt",
    ]


def wait_until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)


class TestLeaving:
    def test_leaves_no_file_open(self, api, large, paths):
        wait_until(lambda: not open_files(paths.root), lambda: open_files(paths.root))
        for path in large:
            for headers in ("", "Range: bytes=1000-\r\n"):
                with socket.socket(socket.AF_UNIX) as sock:
                    sock.settimeout(60)
                    sock.connect(api.socket)
                    sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
                    assert sock.recv(12) in (b"HTTP/1.1 200", b"HTTP/1.1 206"), path
                    # While it is read it is open: otherwise this test would see nothing.
                    wait_until(lambda: open_files(paths.root), lambda path=path: path)
                wait_until(lambda: not open_files(paths.root), lambda path=path: (path, open_files(paths.root)))
