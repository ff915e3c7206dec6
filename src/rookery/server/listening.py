"""Where the keeper listens: a socket file that only its owner can open, and a TCP port that stays the same."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import socket

from rookery.errors import UserError
from rookery.record.storage import storage_errors

__all__ = ["keep_text", "listen_tcp", "listen_unix"]

BACKLOG = 2048


def listen_unix(path: str) -> socket.socket:
    """The socket file, mode 600. What an earlier keeper left there is removed: whoever calls this holds the lease."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with storage_errors(path):
            sock.bind(path)
    finally:
        os.umask(before)
    sock.listen(BACKLOG)
    return sock


def listen_tcp(host: str, port: int, port_file: str) -> socket.socket:
    """`port`, or with 0 the one noted in `port_file`, or a free one, which is then noted.

    Raises:
        UserError: a port that was asked for is taken.
    """
    wanted = port or _noted(port_file)
    try:
        sock = _bind(host, wanted)
    except OSError as error:
        if port or error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise UserError(
                f"The keeper cannot listen on {host} port {wanted}: {error.strerror}. Choose another port."
            ) from error
        sock = _bind(host, 0)
    if not port:
        keep_text(port_file, str(sock.getsockname()[1]))
    return sock


def keep_text(path: str, text: str) -> None:
    """Writes a small file so that a reader finds the old text or the new one, never half of it."""
    temporary = f"{path}.{secrets.token_hex(8)}"
    with storage_errors(path):
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as f:
                f.write(text)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def _noted(port_file: str) -> int:
    try:
        with open(port_file, encoding="ascii") as f:
            port = int(f.read().strip())
    except (OSError, ValueError):
        return 0
    return port if 0 < port < 65536 else 0


def _bind(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock
