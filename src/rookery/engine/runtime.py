"""The runtime folder: short, private, for sockets only, because their paths are limited to about 108
bytes."""

from __future__ import annotations

import hashlib
import os
import stat

from rookery.errors import StorageError

__all__ = ["agent_socket", "runtime_folder", "socket_path"]

MAX_BASE = 60  # leaves room for a name of forty characters


def runtime_folder() -> str:
    """`$XDG_RUNTIME_DIR/rookery`, else `/tmp/rookery-<uid>`: made with mode 700, refused when it is not ours.

    Raises:
        StorageError: it cannot be made, or somebody else has put something in its place.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base) and len(base) <= MAX_BASE and os.access(base, os.W_OK | os.X_OK) and os.path.isdir(base):
        return _private(os.path.join(base, "rookery"))
    return _private(f"/tmp/rookery-{os.getuid()}")


def socket_path(kind: str, key: str) -> str:
    """A socket of its own for whatever `key` names, the same one every time."""
    name = hashlib.sha256(os.fsencode(key)).hexdigest()[:20]
    return os.path.join(runtime_folder(), f"{kind}-{name}.sock")


def agent_socket(node_root: str) -> str:
    """Where the agent of this node's folder listens for its ranks."""
    return socket_path("a", node_root)


def _private(folder: str) -> str:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)  # a link that somebody else placed here must not be followed
    except OSError as error:
        raise StorageError(
            f"The runtime folder {folder} cannot be made: {error.strerror}. Set XDG_RUNTIME_DIR to a folder of yours."
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise StorageError(f"{folder} is not a folder of yours. Remove it, or set XDG_RUNTIME_DIR to a folder that is.")
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(folder, 0o700)
    return folder
