"""`python -m rookery.serve.front FOLDER`: the front of the endpoint in that folder, until it is told to stop or nobody wants it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import json
import os
import resource
import secrets
import signal
import socket
import ssl
import sys
import time
from typing import Any, Optional

from rookery.serve.front import wire
from rookery.serve.front.control import Control
from rookery.serve.front.replica import start_ticks
from rookery.serve.front.service import Service, write_whole

LOOK_S = 0.25
LEAVE_S = 20.0
WAIT_LOCK_S = 10.0


class Front:
    """Promises: one per endpoint (flock); front.json names it once its control socket answers."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._service = Service(folder)
        self._epoch = secrets.token_hex(8)  # numbers of buckets begin again with every front
        self._server: Optional[asyncio.AbstractServer] = None
        self._listening: Any = None
        self._problem = ""
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        if not self._service.read_desired():
            return
        control_path = self._service.desired["control"]
        control = Control(self._service, self._describe, self._reread, self._stopping.set)
        listening = await control.listen(control_path)
        self._service.apply(self._left_behind())
        await self._listen()
        me = {"pid": os.getpid(), "ticks": start_ticks(os.getpid()), "control": control_path}
        write_whole(os.path.join(self._folder, "front.json"), json.dumps(me))
        gc.collect()
        gc.freeze()
        try:
            await self._keep_looking()
        finally:
            await self._leave()
            listening.close()
            for leftover in (control_path, os.path.join(self._folder, "front.json")):
                with contextlib.suppress(OSError):
                    os.unlink(leftover)

    async def _keep_looking(self) -> None:
        turn = 0
        while not self._stopping.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), LOOK_S)
            self._service.look()
            turn += 1
            if turn % 8 == 0:
                if not os.path.exists(os.path.join(self._folder, "desired.json")):
                    return  # the endpoint, or its whole workspace, is gone
                await self._listen()

    async def _reread(self) -> None:
        if not self._service.read_desired():
            self._stopping.set()
            return
        self._service.apply()
        await self._listen()

    async def _listen(self) -> None:
        """Opens the port that is wanted; the old one is closed when the new one is open."""
        wanted = self._service.desired["listen"]
        if self._listening == wanted:
            return
        tls = _tls(wanted)
        try:
            sock = _bind(wanted["host"], int(wanted["port"]))
            made = await asyncio.get_running_loop().create_server(self._connection, sock=sock, ssl=tls, backlog=1024)
        except OSError as error:
            self._problem = f"{wanted['host']}:{wanted['port']} cannot be opened: {error.strerror or error}."
            return
        old, self._server, self._listening, self._problem = self._server, made, wanted, ""
        if old is not None:
            old.close()

    def _connection(self) -> wire.Connection:
        return wire.Connection(self._service.handle, self._service.body_limit, self._service.connections)

    def _left_behind(self) -> dict[str, Any]:
        try:
            with open(os.path.join(self._folder, "replicas.json"), encoding="utf-8") as f:
                found = json.load(f)
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    async def _leave(self) -> None:
        """No new connections; what is under way is answered, within reason."""
        if self._server is not None:
            self._server.close()
        self._service.leave()
        until = time.monotonic() + LEAVE_S
        while time.monotonic() < until and not self._service.is_gone:
            self._service.look()
            await asyncio.sleep(0.02)
        for connection in list(self._service.connections):
            connection.close()

    def _describe(self) -> dict[str, Any]:
        told = self._service.describe()
        told.update(epoch=self._epoch, pid=os.getpid(), listening=self._listening, problem=self._problem)
        return told


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    return sock


def _tls(wanted: dict[str, Any]) -> Optional[ssl.SSLContext]:
    if not wanted.get("tls_cert"):
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(wanted["tls_cert"], wanted.get("tls_key") or None)
    return context


def _lock(folder: str) -> Optional[int]:
    """Held as long as we live. One that is leaving is waited for."""
    fd = os.open(os.path.join(folder, "front.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + WAIT_LOCK_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except OSError:
            if time.monotonic() > until:
                return None
            time.sleep(0.05)


def _allow_connections() -> None:
    """As many files as this user may have open: every connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY:
        wire.MAX_CONNECTIONS = max(64, min(wire.MAX_CONNECTIONS, hard - 128))


def main(argv: list[str]) -> int:
    folder = os.path.abspath(argv[0])
    if _lock(folder) is None:
        print("another front of this endpoint lives", file=sys.stderr)
        return 0

    _allow_connections()

    async def run() -> None:
        await Front(folder).run()

    asyncio.run(run())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
