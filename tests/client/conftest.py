"""A workspace whose keeper is the fake one, started the way the real one is."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time

import pytest

from rookery.client import client as client_module
from rookery.client import create_workspace, find_keeper, spawn

from .fake_keeper import socket_folder

FAKE = os.path.join(os.path.dirname(__file__), "fake_keeper.py")


def fake_command(root: str, ready_fd: int) -> list[str]:
    return [sys.executable, FAKE, "--workspace", root, "--ready-fd", str(ready_fd)]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The folder of a workspace; a keeper that is started for it is a fake one."""
    monkeypatch.setattr(spawn, "keeper_command", fake_command)
    folder = tmp_path / "it's a workspace"
    create_workspace(str(folder), "birds")
    yield os.path.realpath(folder)
    client_module._close_all()
    client_module._clients.clear()
    for keeper in tmp_path.rglob("keeper"):  # of this workspace, and of copies that a test has made
        shutil.rmtree(socket_folder(str(keeper.parent)), ignore_errors=True)


@pytest.fixture
def behave(root):
    """Says how the next fake keeper behaves."""

    def write(**behaviour):
        with open(os.path.join(root, "fake.json"), "w") as f:
            json.dump(behaviour, f)

    return write


def wait_for(condition, timeout_s=120.0):
    """Wait until a condition holds; what it gave."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    from tests.conftest import start_ticks

    return start_ticks(pid) != -1


def kill_keeper(root: str) -> int:
    """kill -9, and wait until it is gone: reaped, for a zombie whose other threads are still dying holds its
    sockets."""
    import signal

    pid = find_keeper(root).pid
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
    return pid


def starts(root: str) -> list[str]:
    with open(os.path.join(root, "fake", "starts")) as f:
        return f.read().split()
