"""Starting a keeper as a process of its own, that outlives us, and hearing whether it came up."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import Any, Optional

from rookery.errors import KeeperUnavailableError, RookeryError, StorageError, error_from_code
from rookery.spec.paths import WorkspacePaths

__all__ = ["keeper_command", "keeper_environment", "spawn_keeper"]

MAX_LOG_BYTES = 8 * 1024 * 1024
# What belongs to one run. A keeper that a run happens to start must not carry it: ROOKERY_ATTEMPT_KEY marks
# processes that are ended with their attempt.
_OF_A_RUN = (
    "RUN_ID",
    "EXPERIMENT",
    "WORKSPACE",
    "ATTEMPT",
    "NODE",
    "RANK",
    "WORLD_SIZE",
    "AGENT_SOCKET",
    "JOURNAL_DIR",
    "UPLOADS_DIR",
    "ERRORS_DIR",
    "RUN_TOKEN",
    "PAYLOAD",
    "ATTEMPT_KEY",
)


def spawn_keeper(paths: WorkspacePaths, deadline: float) -> bool:
    """Start a keeper and wait until it listens; False when `deadline` (monotonic) comes first and it is still
    trying.

    Raises:
        RookeryError: it gave up; its own error.
        StorageError: its log cannot be written.
    """
    log, log_start = _open_log(paths.keeper_log)
    ready, told = os.pipe()
    try:
        process = subprocess.Popen(
            keeper_command(paths.root, told),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=keeper_environment(dict(os.environ)),
            pass_fds=(told,),
            start_new_session=True,
        )
    except OSError as error:
        os.close(ready)
        raise KeeperUnavailableError(f"{sys.executable!r} cannot be started: {error.strerror or error}.") from error
    finally:
        os.close(told)
        os.close(log)
    # It is our child as long as we live; without this it would stay a zombie after it has left.
    threading.Thread(target=process.wait, name="rookery-keeper-reaper", daemon=True).start()
    try:
        answer = _wait(ready, deadline)
    finally:
        os.close(ready)
    if answer == b"":
        raise _last_error(paths.keeper_log, log_start)
    return answer is not None


def keeper_command(root: str, ready_fd: int) -> list[str]:
    return [sys.executable, "-m", "rookery.server", "--workspace", root, "--ready-fd", str(ready_fd)]


def keeper_environment(environment: dict[str, str]) -> dict[str, str]:
    """Ours without what would slow it down or belongs to a run, and with a PYTHONPATH that holds from any
    folder."""
    payload = environment.get("ROOKERY_PAYLOAD")
    env = {k: v for k, v in environment.items() if not (k.startswith("ROOKERY_") and k[len("ROOKERY_") :] in _OF_A_RUN)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env.pop("AZUREML_RUN_TOKEN", None)
    entries = [os.path.abspath(p) for p in env.pop("PYTHONPATH", "").split(os.pathsep) if p]
    if payload:
        entries = [p for p in entries if not p.startswith(os.path.abspath(payload) + os.sep)]
    if entries:
        env["PYTHONPATH"] = os.pathsep.join(entries)
    return env


def _open_log(path: str) -> tuple[int, int]:
    try:
        if os.path.exists(path) and os.path.getsize(path) > MAX_LOG_BYTES:
            os.replace(path, path + ".1")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error
    return fd, os.fstat(fd).st_size


def _wait(ready: int, deadline: float) -> Optional[bytes]:
    """The byte that says it listens, b'' when it is gone, None when time is up."""
    poll = select.poll()
    poll.register(ready, select.POLLIN | select.POLLHUP)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        return None
    return os.read(ready, 1)


def _last_error(log: str, start: int) -> RookeryError:
    """The keeper's own error: the last line of its log is JSON. For anything else, its last lines."""
    try:
        with open(log, "rb") as f:
            f.seek(start)
            lines = f.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    try:
        error: Any = json.loads(lines[-1])["error"]
        return error_from_code(error["code"], error["message"], error.get("details"))
    except (ValueError, KeyError, TypeError, IndexError):
        said = "\n".join(lines[-12:]) or "it wrote nothing"
        return KeeperUnavailableError(f"The keeper did not start. The end of {log}:\n{said}")
