"""Finding the keeper of a workspace on this machine, and starting one where there is none.

    python -m rookery.client.start ROOT        ensures that the workspace has a keeper (agents use this)

Racing clients take `keeper/start.lock`, so that they start one keeper; that there never are two is the
keeper's own `lease`.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

from rookery.client.folder import open_workspace
from rookery.client.handshake import ask, check_protocol, is_older, is_without_work, say_hello
from rookery.client.spawn import spawn_keeper
from rookery.errors import (
    KeeperUnavailableError,
    RookeryError,
    ServiceError,
    StorageError,
    WorkspaceBusyError,
)
from rookery.settings import get_setting
from rookery.spec.paths import WorkspacePaths
from rookery.spec.protocol import PROTOCOL
from rookery.worker.http import UnixHTTPConnection

__all__ = ["Endpoint", "ensure_keeper", "find_keeper", "reach_keeper", "stop_keeper"]

REQUEST_TIMEOUT_S = 60.0
# A keeper that holds the lease but does not listen is leaving or still starting: how long that may take.
BUSY_PATIENCE_S = 10.0
_LOST = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Endpoint:
    """What keeper.json says."""

    socket: str
    pid: int
    host: str
    port: int
    version: str
    protocol: int
    start_ticks: int = 0  # 0: not told


def ensure_keeper(root: str) -> Endpoint:
    """The address of the workspace's keeper; one is started if there is none."""
    reach_keeper(root).close()
    endpoint = find_keeper(root)
    if endpoint is None:
        raise KeeperUnavailableError(f"The keeper of {root} left right after it had been reached. Try again.")
    return endpoint


def find_keeper(root: str) -> Optional[Endpoint]:
    """What keeper.json says, None when there is none that can be read. It may be stale: only connecting tells.

    One that names another folder came along with a copy of that folder: its keeper is not ours.
    """
    try:
        with open(WorkspacePaths(os.path.realpath(root)).endpoint, encoding="utf-8") as f:
            data = json.load(f)
        if not _is_same_folder(str(data.get("root", root)), root):
            return None
        return Endpoint(
            socket=str(data["socket"]),
            pid=int(data["pid"]),
            host=str(data["host"]),
            port=int(data["port"]),
            version=str(data["version"]),
            protocol=int(data["protocol"]),
            start_ticks=int(data.get("start_ticks") or 0),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_same_folder(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False  # it has moved away, and its keeper with it


def reach_keeper(root: str, start: bool = True) -> http.client.HTTPConnection:
    """An open connection to the keeper, after the handshake. With `start` one is started if there is none.

    Raises:
        KeeperUnavailableError: there is none and it may not or cannot be started in time.
        VersionMismatchError: it speaks another protocol, and is newer or has work.
        WorkspaceNotFoundError, ConfigError, StorageError, WorkspaceBusyError: the workspace cannot be used;
            the keeper's own error where it could not start.
    """
    root = os.path.realpath(root)
    connection = _look(root, replace=False if start else None)
    if connection is not None:
        return connection
    open_workspace(root)
    if not start:
        raise KeeperUnavailableError(
            f"The workspace {root} has no keeper running. Any command that needs one starts it."
        )
    timeout_s = get_setting("keeper_start_timeout_s", root)
    deadline = time.monotonic() + timeout_s
    with _start_lock(root, deadline, timeout_s) as found:
        return found if found is not None else _start(root, deadline, timeout_s)


def stop_keeper(root: str, timeout_s: float = 30.0) -> Optional[int]:
    """Ask the keeper to leave, whatever protocol it speaks, and wait until it has: it does not listen any more,
    and its process, which puts things away before it ends, writes nothing into the workspace any more. Its pid,
    or None when none was running.

    Raises:
        KeeperUnavailableError: it still listens after `timeout_s`.
    """
    root = os.path.realpath(root)
    endpoint = find_keeper(root)
    connection = _connect(endpoint) if endpoint else None
    if endpoint is None or connection is None:
        return None
    with contextlib.closing(connection):
        _ask_to_stop(connection)
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if _is_gone(endpoint) and not _is_alive(endpoint):
            return endpoint.pid
        time.sleep(0.02)
    if _is_gone(endpoint):
        return endpoint.pid  # what it still does, its successor waits for
    raise KeeperUnavailableError(
        f"The keeper (pid {endpoint.pid}) was asked to stop and is still there after {timeout_s:g} s."
    )


def _look(root: str, replace: Optional[bool]) -> Optional[http.client.HTTPConnection]:
    """A connection to the keeper that runs, or None.

    replace: what to do with one that is older and idle. None: raise; False: answer None, for it may be
    replaced; True: stop it.
    """
    endpoint = find_keeper(root)
    connection = _connect(endpoint) if endpoint else None
    if endpoint is None or connection is None:
        return None
    try:
        hello = say_hello(connection)
        if hello["protocol"] == PROTOCOL:
            return connection
        if replace is None or not is_older(hello) or not is_without_work(connection):
            check_protocol(hello)
        if replace:
            _ask_to_stop(connection)
            _wait_until_gone(endpoint, BUSY_PATIENCE_S)
    except socket.timeout as error:  # only since Python 3.10 the same as TimeoutError
        connection.close()
        raise KeeperUnavailableError(
            f"The keeper (pid {endpoint.pid}) took the connection but said nothing for "
            f"{REQUEST_TIMEOUT_S:g} s. "
            f"See {WorkspacePaths(root).keeper_log}, or end it with `kill {endpoint.pid}`: the "
            "next command starts another."
        ) from error
    except _LOST:
        pass  # it left while we were talking
    except RookeryError:
        connection.close()
        raise
    connection.close()
    return None


def _connect(endpoint: Endpoint) -> Optional[http.client.HTTPConnection]:
    connection = UnixHTTPConnection(endpoint.socket, REQUEST_TIMEOUT_S)
    try:
        connection.connect()
    except PermissionError as error:
        raise WorkspaceBusyError(
            f"The keeper (pid {endpoint.pid}) belongs to another user: its socket "
            f"{endpoint.socket} may not be opened. "
            "Use a workspace of your own, or share one with `rookery server`."
        ) from error
    except OSError:
        return None
    return connection


def _ask_to_stop(connection: http.client.HTTPConnection) -> None:
    try:
        status, _ = ask(connection, "POST", "/keeper/stop")
    except _LOST:
        return  # it was quicker than its answer
    if status >= 400:
        raise ServiceError(f"The keeper refused to stop (status {status}).")


def _is_gone(endpoint: Endpoint) -> bool:
    connection = _connect(endpoint)
    if connection is None:
        return True
    connection.close()
    return False


def _is_alive(endpoint: Endpoint) -> bool:
    """Whether its process is there. False also where that cannot be told."""
    try:
        with open(f"/proc/{endpoint.pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return fields[0] not in "ZX" and int(fields[19]) == endpoint.start_ticks
    except (OSError, ValueError, IndexError):
        return False


def _wait_until_gone(endpoint: Endpoint, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and not _is_gone(endpoint):
        time.sleep(0.02)


@contextlib.contextmanager
def _start_lock(root: str, deadline: float, timeout_s: float) -> Iterator[Optional[http.client.HTTPConnection]]:
    """Hold start.lock. Gives a connection if a keeper has appeared meanwhile."""
    paths = WorkspacePaths(root)
    try:
        os.makedirs(paths.keeper, mode=0o700, exist_ok=True)
        fd = os.open(paths.start_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(
            f"The workspace {root} cannot be written: {error.strerror or error}. A keeper needs "
            "a folder that is writable and has room."
        ) from error
    try:
        while not _take(fd, paths.start_lock):
            if time.monotonic() > deadline:
                raise _too_late(root, timeout_s, "another process is starting it and has not finished")
            time.sleep(0.03)
            connection = _look(root, replace=False)
            if connection is not None:
                yield connection
                return
        try:
            yield _look(root, replace=True)
        finally:
            # Not left to close(): a process forked meanwhile may hold a copy of the descriptor, and with it
            # the lock.
            fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


def _take(fd: int, path: str) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError as error:
        raise StorageError(
            f"{path} cannot be locked: {error.strerror or error}. Put the workspace on a local disk."
        ) from error


def _start(root: str, deadline: float, timeout_s: float) -> http.client.HTTPConnection:
    patience = min(deadline, time.monotonic() + BUSY_PATIENCE_S)
    while True:
        try:
            if not spawn_keeper(WorkspacePaths(root), deadline):
                raise _too_late(root, timeout_s, "it was started and does not listen yet")
        except WorkspaceBusyError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.1)
        connection = _look(root, replace=False)
        if connection is not None:
            return connection
        if time.monotonic() > deadline:
            raise _too_late(root, timeout_s, "it does not answer")


def _too_late(root: str, timeout_s: float, what: str) -> KeeperUnavailableError:
    return KeeperUnavailableError(
        f"No keeper for {root} within {timeout_s:g} s (setting keeper_start_timeout_s): {what}. "
        f"See {WorkspacePaths(root).keeper_log}; on a slow machine raise ROOKERY_KEEPER_START_TIMEOUT_S."
    )


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m rookery.client.start WORKSPACE_ROOT", file=sys.stderr)
        return 2
    try:
        ensure_keeper(arguments[0])
    except RookeryError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
