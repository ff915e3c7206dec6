"""The keeper: lease, record, controller and API in one process, from start to leaving.

Order at the start: identity, lease, record, controller, sockets, keeper.json, ready. At the end the other way
round: who finds
no keeper.json starts a new keeper, which waits for the lease that this one is about to give back.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import os
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

import uvicorn

from rookery import __version__
from rookery.errors import UserError
from rookery.record import Record
from rookery.server.app import create_app
from rookery.server.identity import read_identity
from rookery.server.lease import Lease
from rookery.server.listening import add_listener, keep_text, let_wait, listen_tcp, listen_unix, server_config
from rookery.server.logs import FORMATS, start_logging
from rookery.server.reception import parse_proxies
from rookery.server.services import Services
from rookery.server.tls import server_context
from rookery.server.watchman import Watchman
from rookery.settings import get_setting
from rookery.spec.paths import WorkspacePaths
from rookery.spec.protocol import PROTOCOL

__all__ = ["KeeperOptions", "keep"]

log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
WATCH_S = 1.0  # between two looks whether a watchman is needed


@dataclass(frozen=True)
class KeeperOptions:
    """idle_s None: never leaves by itself. port 0: the one kept from start to start. With a certificate (and its key, both
    PEM files) the TCP port speaks TLS."""

    root: str
    ready_fd: Optional[int] = None
    host: str = LOOPBACK
    port: int = 0
    idle_s: Optional[float] = None
    tls_cert: str = ""
    tls_key: str = ""
    testing: bool = False
    prefix: str = ""  # what the paths of all addresses begin with, behind a proxy
    proxies: str = ""  # addresses of proxies whose X-Forwarded-* headers count, a comma list
    log_format: str = "none"  # text or json: a line for every request


def keep(options: KeeperOptions, make_controller: Optional[Callable[[Record, WorkspacePaths], Any]] = None) -> None:
    """Owns the workspace until it is told to leave, or has been idle for long enough.

    Raises:
        RookeryError: it could not start; nothing is left behind.
    """
    if options.testing and not _is_loopback(options.host):
        raise UserError(
            f"--testing lets everybody empty the workspace, so it listens on loopback only, not on {options.host}. "
            "Give --host 127.0.0.1."
        )
    paths = WorkspacePaths(os.path.abspath(options.root))
    _proxies(options.proxies)  # a mistake in it is said before anything is started
    if options.log_format in FORMATS:
        start_logging(options.log_format, requests=True)
    identity = read_identity(paths)
    tls = server_context(options.tls_cert, options.tls_key)
    with Lease(paths) as lease:
        record = Record(paths)
        try:
            record.content.clear_incoming()
            _check_people(options, record)
            controller = (make_controller or _engine_controller)(record, paths)
            controller.start()
            try:
                _serve(options, paths, identity, record, controller, lease, tls)
            finally:
                controller.stop()
        finally:
            record.close()


def _check_people(options: KeeperOptions, record: Record) -> None:
    """Others reach any address but loopback: then somebody must be able to log in, and the owner's token is not for all."""
    if not _is_loopback(options.host) and record.people.count() == 0:
        raise UserError(
            f"{options.host} is reached by others, and this workspace has no users. Add one first: "
            "`rookery user add NAME --role owner`. On 127.0.0.1, which is the default, none is needed."
        )


def _proxies(text: str) -> tuple[Any, ...]:
    try:
        return parse_proxies(text)
    except ValueError as error:
        raise UserError(
            f"--trust-proxy {text!r:.200}: {error}. Give addresses or networks like 10.0.0.0/8, with commas."
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _engine_controller(record: Record, paths: WorkspacePaths) -> Any:
    from rookery.engine import Controller

    controller = Controller(record, paths)
    _add_drivers(controller, record)
    return controller


def _add_drivers(controller: Any, record: Record) -> None:
    """Who drives runs that have no process of their own. Their rooms are light until the first such run."""
    from rookery.pipeline.late import LatePipelineDriver
    from rookery.tune import TuneDriver

    controller.add_driver(TuneDriver(record, controller))
    controller.add_driver(LatePipelineDriver(record, controller))


def _serve(
    options: KeeperOptions,
    paths: WorkspacePaths,
    identity: dict[str, Any],
    record: Record,
    controller: Any,
    lease: Lease,
    tls: Optional[ssl.SSLContext],
) -> None:
    with _sockets(options, paths) as (unix, tcp):
        server = _Server(options, paths, lease, unix, tcp, tls)
        app = create_app(record, controller, identity, stop=server.leave, late=True)
        app.state.services.testing = options.testing
        app.state.services.prefix = options.prefix
        app.state.services.proxies = _proxies(options.proxies)
        app.state.services.logs_requests = options.log_format in FORMATS
        server.use(app)
        app.state.services.builds.start()
        app.state.services.webhooks.start()
        app.state.services.serving.host = options.host
        app.state.services.serving.tls = (options.tls_cert, options.tls_key)
        app.state.services.serving.start()
        try:
            asyncio.run(server.serve(sockets=[unix] if tls else [unix, tcp]))
        finally:
            app.state.services.builds.stop()
            app.state.services.webhooks.stop()
            app.state.services.serving.stop()


@contextlib.contextmanager
def _sockets(options: KeeperOptions, paths: WorkspacePaths) -> Iterator[tuple[socket.socket, socket.socket]]:
    from rookery.engine.runtime import socket_path

    path = socket_path("keeper", paths.root)
    unix = listen_unix(path)
    try:
        port = options.port or get_setting("keeper_port", paths.root)
        with listen_tcp(options.host, port, paths.port) as tcp:
            yield unix, tcp
    finally:
        unix.close()
        # The endpoint goes first: who reads it must not be sent to a socket that is gone.
        for leftover in (paths.endpoint, path):
            with contextlib.suppress(OSError):
                os.unlink(leftover)


class _Server(uvicorn.Server):
    """Uvicorn on both sockets, which tells when it listens and leaves when there is nothing to do."""

    def __init__(
        self,
        options: KeeperOptions,
        paths: WorkspacePaths,
        lease: Lease,
        unix: socket.socket,
        tcp: socket.socket,
        tls: Optional[ssl.SSLContext],
    ) -> None:
        self._options, self._paths, self._lease, self._unix, self._tcp = options, paths, lease, unix, tcp
        self._tls = tls
        self._app: Any
        self._services: Services
        self._tasks: list[asyncio.Task[None]] = []
        self._watchman: Optional[Watchman] = None

    def use(self, app: Any) -> None:
        self._app, self._services = app, app.state.services
        super().__init__(server_config(app))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals mean leaving, and nothing else: Uvicorn would raise them again when it is done."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave)
        yield

    async def startup(self, sockets: Optional[list[socket.socket]] = None) -> None:
        await super().startup(sockets)
        let_wait(*(sockets or ()))
        if self._tls is not None:
            await add_listener(self, self._tcp, self._app, self._tls)
        self._services.agents.attach(self, self._app, self._publish)
        await self._services.agents.reopen()
        self._services.spool.attach(self._app, self.server_state.tasks)
        self._publish()
        if self._options.idle_s is not None:
            from rookery.engine.ground import start_command

            self._watchman = Watchman(start_command(self._paths))  # a server has one: who started it
            self._tasks = [
                asyncio.create_task(self._leave_when_idle(self._options.idle_s)),
                asyncio.create_task(self._keep_watchman(self._watchman)),
            ]
        if self._options.ready_fd is not None:
            _tell_ready(self._options.ready_fd)

    def _publish(self) -> None:
        """Says in keeper.json where we are; again when that has changed. In the event loop."""
        self._services.endpoint.update(self._endpoint())
        if not self.should_exit:
            keep_text(self._paths.endpoint, json.dumps(self._services.endpoint))

    def leave(self) -> None:
        """Ends open streams, lets requests under way finish, and goes."""
        if not self.should_exit:
            self._lease.leaving()
            if self._watchman is not None:
                self._watchman.dismiss()
            self._services.leave()
            self.should_exit = True

    async def _leave_when_idle(self, idle_s: float) -> None:
        while not self.should_exit:
            await asyncio.sleep(min(1.0, idle_s / 5))
            if self._services.activity.idle_s() >= idle_s:
                counts = await asyncio.to_thread(self._services.controller.counts)
                is_quiet = counts["live_runs"] == 0 and self._services.builds.count() == 0
                # Fronts serve without us, but nobody else would start one again that dies.
                is_quiet = is_quiet and not await asyncio.to_thread(self._services.record.endpoints.count)
                # A tracking client cannot start a keeper: as long as one is expected, it must find this one.
                stale_s = get_setting("external_stale_s", self._paths.root)
                is_quiet = is_quiet and not await asyncio.to_thread(
                    self._services.record.external.is_expected, stale_s, self._services.tracking_until
                )
                if is_quiet and self._services.activity.idle_s() >= idle_s:
                    self.leave()

    async def _keep_watchman(self, watchman: Watchman) -> None:
        while not self.should_exit:
            await asyncio.sleep(WATCH_S)
            try:
                has_work = await asyncio.to_thread(self._services.controller.has_work)
                await asyncio.to_thread(watchman.set, has_work or self._services.builds.count() > 0)
            except Exception:
                log.exception("Whether a watchman is needed cannot be said now")  # the record cannot be asked

    def _endpoint(self) -> dict[str, Any]:
        return {
            "socket": self._unix.getsockname(),
            "host": self._tcp.getsockname()[0],
            "port": self._tcp.getsockname()[1],
            "pid": os.getpid(),
            "start_ticks": _start_ticks(),
            "hostname": socket.gethostname(),
            "version": __version__,
            "protocol": PROTOCOL,
            "root": os.path.realpath(self._paths.root),
            "tls": self._tls is not None,
            "agents": {"urls": self._services.agents.urls},
        }


def _tell_ready(fd: int) -> None:
    """Whoever started us may have gone meanwhile; others still want a keeper."""
    with contextlib.suppress(OSError):
        os.write(fd, b"1")
    with contextlib.suppress(OSError):
        os.close(fd)


def _start_ticks() -> int:
    with open("/proc/self/stat", encoding="utf-8", errors="replace") as f:
        # The name in parentheses may hold anything; the numbers follow the last one. Field 22.
        return int(f.read().rpartition(")")[2].split()[19])
