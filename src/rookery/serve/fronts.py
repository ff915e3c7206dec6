"""Fronts as the keeper sees them: started, found again, asked, stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Optional

from rookery.engine.processes import is_running, kill_process
from rookery.engine.runtime import socket_path
from rookery.serve.front.service import write_whole
from rookery.spec.paths import ServedPaths

__all__ = ["FrontHandle"]

ASK_S = 10.0
STOP_S = 30.0
START_S = 15.0  # until a front that was started is taken for one that will not come


class FrontHandle:
    """The front of one endpoint. All calls may come twice; none raises because the front is not there."""

    def __init__(self, paths: ServedPaths) -> None:
        self.paths = paths
        self.control = socket_path("front", paths.root)
        self.sockets = socket_path("s", paths.root)[: -len(".sock")]
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._started = 0.0

    def want(self, desired: dict[str, Any]) -> bool:
        """Writes desired.json; whether it has changed."""
        text = json.dumps(desired, sort_keys=True)
        try:
            with open(self.paths.desired, encoding="utf-8") as f:
                if f.read() == text:
                    return False
        except OSError:
            pass
        os.makedirs(self.paths.root, mode=0o700, exist_ok=True)
        write_whole(self.paths.desired, text)
        return True

    def is_alive(self) -> bool:
        if self._process is not None and self._process.poll() is None:
            return True
        me = _read(self.paths.front)
        # A copy of a workspace has the file of the other's front; its control socket has another name.
        return me.get("control") == self.control and is_running(int(me["pid"]), int(me["ticks"]))

    def ensure(self) -> None:
        """Starts one where there is none. It holds a lock, so two are never there."""
        if self.is_alive():
            return
        log = os.open(self.paths.front_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rookery.serve.front", self.paths.root],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=_environment(),
                start_new_session=True,
            )
        finally:
            os.close(log)
        self._started = time.monotonic()
        threading.Thread(target=self._process.wait, name="rookery-front-reaper", daemon=True).start()

    def ask(self, op: str, have: int = 0, epoch: str = "") -> Optional[dict[str, Any]]:
        """Its answer; None where nobody answers. `have`: numbers up to this one, of the front of that epoch, are stored."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(ASK_S)
        try:
            sock.connect(self.control)
            sock.sendall(json.dumps({"op": op, "have": have, "epoch": epoch}).encode("ascii") + b"\n")
            with sock.makefile("rb") as f:
                line = f.readline()
            return json.loads(line) if line else None
        except (OSError, ValueError):
            return None
        finally:
            sock.close()

    def stop(self) -> None:
        """It finishes what is under way and leaves, and so do its processes; what does not is killed."""
        with contextlib.suppress(OSError):
            os.unlink(self.paths.desired)  # a front that is only now coming up finds that nobody wants it
        self.ask("stop")
        until = time.monotonic() + STOP_S
        while self.is_alive() and time.monotonic() < until:
            time.sleep(0.02)
        me = _read(self.paths.front)
        if me and self.is_alive():
            kill_process(int(me["pid"]), int(me["ticks"]))
        for version in (_read(self.paths.replicas).get("versions") or {}).values():
            for replicas in version.get("replicas", {}).values():
                for one in replicas:
                    _kill_group(int(one["pid"]), int(one["ticks"]))
        for leftover in (self.control, self.paths.front):
            with contextlib.suppress(OSError):
                os.unlink(leftover)


def _kill_group(pid: int, ticks: int) -> None:
    if is_running(pid, ticks) and ticks:
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """The keeper's own, without what belongs to a run that may have started it."""
    dropped = (
        "ROOKERY_RUN",
        "ROOKERY_ATTEMPT",
        "ROOKERY_AGENT",
        "ROOKERY_RANK",
        "ROOKERY_NODE",
        "PYTHONDONTWRITEBYTECODE",
    )
    return {key: value for key, value in os.environ.items() if not key.startswith(dropped)}


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}
