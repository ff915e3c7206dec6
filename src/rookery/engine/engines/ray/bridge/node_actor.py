"""What Ray runs on a node for us: an actor that holds the reservation and a guard with the agent. Sent by value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any, Optional

LINGER_S = 120.0  # for a keeper that comes back to hear how the agent ended
# What the raylet sets for its own workers, or a run that it was itself started in; nothing of it is the agent's.
_DROPPED = ("RAY_", "ROOKERY_", "AZUREML_", "PYTHON")
_DROPPED_NAMES = ("OMP_NUM_THREADS", "SPT_NOENV", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD", "VIRTUAL_ENV")


class NodeActor:
    """One agent's place in Ray. No user code runs in this process."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._how: dict[str, Any] = {}
        self._guard: Optional[subprocess.Popen[bytes]] = None
        self._gang: list[str] = []
        self._namespace = ""
        self._asked = time.monotonic()
        self._lock = threading.Lock()

    def where(self) -> dict[str, Any]:
        """Which node this is, and which GPUs the reservation has."""
        import ray

        context = ray.get_runtime_context()
        gpus = context.get_accelerator_ids().get("GPU", [])
        return {"node_id": context.get_node_id(), "gpus": [str(g) for g in gpus], "pid": os.getpid()}

    def start(self, given: dict[str, Any]) -> dict[str, Any]:
        """Start the guard, which starts the agent. `given`: guard (its text), begin, python, program, variables, key, node.

        Returns {"pid": …}, or {"error": words} when the agent could not be started."""
        with self._lock:
            if self._guard is not None:
                return {"error": "it has been started already"}
            self._gang, self._namespace = given.pop("gang"), given.pop("namespace")
            variables = {k: v for k, v in os.environ.items() if not k.startswith(_DROPPED) and k not in _DROPPED_NAMES}
            variables.update(given["variables"])
            text = json.dumps({**given, "begin": "", "variables": variables}).encode()
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", given["begin"]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        self._guard.stdin.write(b"%012d" % len(text) + text)
        self._guard.stdin.flush()
        self._guard.wait()  # it has forked: the guard proper is nobody's child
        first = json.loads(self._guard.stdout.readline() or b'{"error": "its guard has died"}')
        if "pid" in first:
            threading.Thread(target=self._listen, daemon=True).start()
        return dict(first)

    def watch(self, timeout_s: float) -> dict[str, Any]:
        """{"state": new | running | ended, …} as soon as it has ended, or when the time is over."""
        self._asked = time.monotonic()
        if self._guard is None:
            return {"state": "new"}
        if not self._ended.wait(timeout_s):
            return {"state": "running"}
        return {"state": "ended", **self._how}

    def kill(self) -> None:
        """SIGKILL for the agent; `watch` tells of its end."""
        if self._guard is not None and self._guard.stdin is not None and not self._ended.is_set():
            try:
                self._guard.stdin.write(b"kill\n")
                self._guard.stdin.flush()
            except OSError:
                pass  # the guard has ended, and says so on its other pipe

    def _listen(self) -> None:
        assert self._guard is not None
        assert self._guard.stdout is not None
        line = self._guard.stdout.readline()
        lost = {"exit_code": None, "signal": None, "reason": "its guard on the node was killed, and the agent with it"}
        self._how = json.loads(line)["ended"] if line else lost
        self._ended.set()
        while time.monotonic() - self._asked < LINGER_S:
            time.sleep(LINGER_S / 10)
        self._leave()

    def _leave(self) -> None:
        """No keeper has asked for so long that none will: give the reservation back. The last of the gang takes its placement
        group away; without one the resources are the actor's own and go with it."""
        import ray

        others = []
        for name in self._gang:
            try:
                others.append(ray.get_actor(name, namespace=self._namespace))
            except ValueError:
                pass  # it has left
        group = ray.util.get_current_placement_group()
        if group is not None and len(others) <= 1:
            ray.util.remove_placement_group(group)
        os._exit(0)


def run_program(python: str, program: str, timeout_s: float) -> dict[str, Any]:
    """Run a small program on this node to its end, in a session of its own: {"exit_code", "output"} or {"error"}."""
    import shutil
    import signal

    variables = {k: v for k, v in os.environ.items() if not k.startswith(_DROPPED) and k not in _DROPPED_NAMES}
    found = shutil.which(python, path=variables.get("PATH"))
    if found is None:
        return {"error": f"'{python}' is not on the PATH of the node ({variables.get('PATH', '')})."}
    process = subprocess.Popen(
        [found, "-I", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=variables,
        cwd="/",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(program.encode(), timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return {"error": f"The program did not end within {timeout_s:g} s."}
    return {"exit_code": process.returncode, "output": output.decode("utf-8", "replace")}
