"""What belongs to an attempt, where /proc shows the processes of other machines too."""

from __future__ import annotations

import os
import subprocess
import time

from rookery.agent.tree import find_attempt
from rookery.engine.processes import is_of_another_machine
from rookery.testing.debian import ensure_programs


def test_leaves_nodes_alone_that_are_namespaces_of_this_machine():
    """They have process numbers and a network of their own; who has only one of them is a rank that was fenced in."""
    unshare = ensure_programs({"unshare": "util-linux"})["unshare"]
    key = f"tree_{os.getpid()}/1"
    variables = {**os.environ, "ROOKERY_ATTEMPT_KEY": key}
    ways = {
        "plain": [],
        "network": [unshare, "-n"],
        "numbers": [unshare, "-p", "-f"],
        "node": [unshare, "-p", "-n", "-f"],
    }
    started = {
        name: subprocess.Popen([*way, "sleep", "60"], env=variables, start_new_session=True)
        for name, way in ways.items()
    }
    try:
        sleeper = {name: _sleeper(process.pid) for name, process in started.items()}
        found = set(find_attempt(key))
        assert {name for name, pid in sleeper.items() if pid in found} == {"plain", "network", "numbers"}
        assert [name for name, pid in sleeper.items() if is_of_another_machine(pid)] == ["node"]
    finally:
        for pid in [*map(_sleeper, (p.pid for p in started.values())), *(p.pid for p in started.values())]:
            os.kill(pid, 9)
        for process in started.values():
            process.wait(60)


def _sleeper(pid):
    """The process itself, or its child where it has forked first."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            for one in [*(int(child) for child in f.read().split()), pid]:
                with open(f"/proc/{one}/comm") as name:
                    if name.read() == "sleep\n":
                        return one
        time.sleep(0.01)
    raise AssertionError("it has not started")
