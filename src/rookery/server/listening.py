"""Where the keeper listens: a socket file that only its owner can open, and a TCP port that stays the same."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import socket
import ssl
import sys
from typing import Any, Optional

import uvicorn

from rookery.errors import UserError
from rookery.record.storage import storage_errors
from rookery.server.connections import Connection, quieten

__all__ = ["add_listener", "bind_tcp", "keep_text", "let_wait", "listen_tcp", "listen_unix", "server_config"]

BACKLOG = 2048
AT_A_TIME = 16  # connections that are taken before the first of them is looked at: there may be no files for more
GRACE_S = 3  # for requests that are under way when the keeper leaves
HANDSHAKE_S = 15.0
GOODBYE_S = 0.5  # a client that does not answer the end of TLS must not hold up the keeper's leaving


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
        sock = bind_tcp(host, wanted)
    except OSError as error:
        if port or error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise UserError(
                f"The keeper cannot listen on {host} port {wanted}: {error.strerror}. Choose another port."
            ) from error
        sock = bind_tcp(host, 0)
    if not port:
        keep_text(port_file, str(sock.getsockname()[1]))
    return sock


def bind_tcp(host: str, port: int) -> socket.socket:
    """A socket that listens there, or OSError."""
    # The protocol is named because asyncio sets TCP_NODELAY only then; without it every answer waits 40 ms for an ACK.
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


def server_config(app: Any) -> uvicorn.Config:
    """How Uvicorn serves any of our listeners."""
    quieten()
    return uvicorn.Config(
        app,
        http=Connection,
        lifespan="off",
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # nobody else may say where a request came from
        server_header=False,
        backlog=AT_A_TIME,
        timeout_keep_alive=75,  # longer than an agent's pause between two requests
        timeout_graceful_shutdown=GRACE_S,
    )


async def add_listener(
    server: uvicorn.Server, sock: socket.socket, app: Any, tls: Optional[ssl.SSLContext] = None
) -> None:
    """Serve `app` on one more socket of a server that runs; it ends with the server."""
    config = server_config(app)
    config.load()
    loop = asyncio.get_running_loop()

    def protocol() -> asyncio.Protocol:
        return config.http_protocol_class(  # type: ignore[call-arg]
            config=config, server_state=server.server_state, app_state={}, _loop=loop
        )

    limits: dict[str, Any] = {} if tls is None else {"ssl_handshake_timeout": HANDSHAKE_S}
    if tls is not None and sys.version_info >= (3, 11):
        limits["ssl_shutdown_timeout"] = GOODBYE_S
    listener = await loop.create_server(protocol, sock=sock, ssl=tls, backlog=AT_A_TIME, **limits)
    server.servers.append(listener)
    let_wait(sock)


def let_wait(*sockets: socket.socket) -> None:
    """As many as the system allows: asyncio takes the number that it accepts at a time for both."""
    for sock in sockets:
        sock.listen(BACKLOG)


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
