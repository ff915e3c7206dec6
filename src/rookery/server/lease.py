"""The lease: who owns a workspace. A lock that the kernel drops when the keeper dies, and a text that says who it is.

On a network file system the lock of another host may not be seen, so there the text counts too: one that
names another host
and was renewed lately keeps us out.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import threading
import time
from types import TracebackType
from typing import Any, Optional

from rookery.errors import WorkspaceBusyError
from rookery.record.storage import storage_errors
from rookery.spec.paths import WorkspacePaths

__all__ = ["Lease", "file_system_of", "is_network_file_system"]

RENEW_S = 5.0
VALID_S = 30.0
WAIT_S = 1.0  # for a keeper that has just been killed
WAIT_LEAVING_S = 20.0  # for one that says it is leaving
NETWORK = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "glusterfs",
    "afs",
    "9p",
    "orangefs",
)


class Lease:
    """Held as a context manager for as long as the keeper lives; `leaving()` tells a successor to wait a moment."""

    def __init__(self, paths: WorkspacePaths) -> None:
        self._paths = paths
        self._fd = -1
        self._state = "keeping"
        self._lock = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> Lease:
        """Takes it, or raises WorkspaceBusyError that names host and pid."""
        with storage_errors(self._paths.lease):
            os.makedirs(self._paths.keeper, mode=0o700, exist_ok=True)
            self._fd = os.open(self._paths.lease, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._take()
            if is_network_file_system(self._paths.root):
                self._check_other_host()
            self._write()
        except BaseException:
            os.close(self._fd)
            raise
        threading.Thread(target=self._renew, name="rookery-lease", daemon=True).start()
        return self

    def __exit__(self, _type: Optional[type], _error: Optional[BaseException], _tb: Optional[TracebackType]) -> None:
        self._over.set()
        with self._lock:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

    def leaving(self) -> None:
        self._state = "leaving"
        self._write()

    def _take(self) -> None:
        start = time.monotonic()
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
            holder = self._read()
            patience_s = WAIT_LEAVING_S if holder.get("state") == "leaving" else WAIT_S
            if time.monotonic() - start > patience_s:
                raise _busy(self._paths.root, holder)
            time.sleep(0.02)

    def _check_other_host(self) -> None:
        holder = self._read()
        age_s = time.time() - float(holder.get("renewed") or 0)
        if holder and holder.get("host") != socket.gethostname() and age_s < VALID_S:
            raise _busy(self._paths.root, holder, f", renewed {age_s:.0f} s ago")

    def _renew(self) -> None:
        while not self._over.wait(RENEW_S):
            self._write()

    def _write(self) -> None:
        """In place: a new file under the old name would not have the lock."""
        with self._lock:
            if self._fd < 0:
                return
            text = json.dumps(
                {
                    "host": socket.gethostname(), "pid": os.getpid(), "boot": _boot_id(), "state": self._state,
                    "renewed": time.time(),
                }
            ).encode("ascii")  # fmt: skip
            try:
                os.pwrite(self._fd, text.ljust(512) + b"\n", 0)
            except OSError:
                # A full disk must not end the keeper: the lock is what counts here.
                pass

    def _read(self) -> dict[str, Any]:
        try:
            holder = json.loads(os.pread(self._fd, 4096, 0))
        except (OSError, ValueError):
            return {}
        return holder if isinstance(holder, dict) else {}


def is_network_file_system(path: str) -> bool:
    """Whether other machines may see this folder too."""
    kind = file_system_of(path)
    return kind in NETWORK or kind.startswith("fuse.ssh") or kind in ("fuse.glusterfs", "fuse.ceph", "fuse.s3fs")


def file_system_of(path: str, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that holds `path`, as /proc/mounts calls it; empty when it cannot be told."""
    real = os.path.realpath(path)
    best, found = -1, ""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as f:
            lines = f.readlines()
    except OSError:
        return ""
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        folder = fields[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        inside = folder == "/" or real == folder or real.startswith(folder + "/")
        if inside and len(folder) >= best:
            best, found = len(folder), fields[2]
    return found


def _busy(root: str, holder: dict[str, Any], more: str = "") -> WorkspaceBusyError:
    host, pid = holder.get("host", "an unknown host"), holder.get("pid", "unknown")
    if host == socket.gethostname() or host == "an unknown host":
        advice = "Use that one, or stop it with `rookery keeper stop`."
    else:
        advice = f"One keeper owns a workspace: run `rookery server` on {host} and reach it over TCP from here."
    return WorkspaceBusyError(
        f"The workspace {root} is kept by another keeper (host {host}, pid {pid}{more}). {advice}",
        details={"host": host, "pid": pid},
    )


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""
