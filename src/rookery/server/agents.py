"""The listener for agents on other machines: opened when a target needs it, on the address that faces its nodes.

It takes the tokens of runs and nobody else's (auth.AgentsGate). Everything else is as at the main port.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.engine.reach.certificates import certificate_for_nodes
from rookery.errors import ComputeError, ConfigError, KeeperUnavailableError, RookeryError, UserError
from rookery.server.auth import AGENTS, LISTENER
from rookery.server.listening import add_listener, bind_tcp, keep_text
from rookery.server.tls import server_context
from rookery.settings import get_setting

if TYPE_CHECKING:
    from rookery.server.services import Services

__all__ = ["AgentsListener", "address_facing", "mark_as_agents"]

log = logging.getLogger(__name__)

OPEN_S = 10.0
REOPEN_S = 3.0  # a name that cannot be looked up must not hold up the keeper's start
MAX_FILES = 65536
WILDCARDS = ("0.0.0.0", "::")


@dataclass(frozen=True)
class _Door:
    bound: str
    port: int
    is_tls: bool


class AgentsListener:
    """`services.agents`.

    Promises: `ensure` may be called from any thread but the event loop's, as often as wanted; an address has one
    listener; its port is the same after a restart unless somebody else has taken it meanwhile.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._root = services.paths.root
        self._lock = threading.Lock()
        self._doors: dict[str, _Door] = {}
        self._urls: list[str] = []
        self._server: Optional[uvicorn.Server] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._app: Optional[ASGIApp] = None
        self._told: Callable[[], None] = lambda: None

    @property
    def urls(self) -> list[str]:
        """Where agents are answered; empty while nobody needs it."""
        return list(self._urls)

    @property
    def certificate(self) -> str:
        """What nodes verify these addresses with (`KeeperAddress.certificate`); empty without TLS."""
        return certificate_for_nodes(self._root)

    def attach(self, server: uvicorn.Server, app: ASGIApp, told: Callable[[], None]) -> None:
        """In the event loop, once the server runs. `told` is called there when the addresses have changed."""
        self._server, self._loop, self._told = server, asyncio.get_running_loop(), told
        self._app = mark_as_agents(app)

    def ensure(self, facing: str) -> str:
        """The address at which nodes that are reached at `facing` find the keeper; opened where it is not yet.

        Raises:
            ComputeError: there is no way from here to `facing`.
            UserError: the port that the settings ask for is taken, or the address is not this machine's.
            ConfigError: what the settings say of TLS cannot be used.
        """
        host = get_setting("agents_host", self._root)
        bound = host or address_facing(facing)
        shown = address_facing(facing) if bound in WILDCARDS else bound
        with self._lock:
            door = self._doors.get(bound) or self._open(bound)
            self._doors[bound] = door
        url = f"{'https' if door.is_tls else 'http'}://{f'[{shown}]' if ':' in shown else shown}:{door.port}"
        if url not in self._urls:
            self._urls.append(url)
            self._in_loop(self._tell())  # keeper.json has it when this returns
        return url

    async def reopen(self) -> None:
        """At the keeper's start: what the targets that are attached need. What cannot be opened is told in the log."""
        wanted = sorted({host for host in map(_host_of_target, self._services.record.compute.list()) if host})
        await asyncio.gather(*map(self._reopen, wanted))

    async def _reopen(self, host: str) -> None:
        try:
            await asyncio.wait_for(asyncio.to_thread(self.ensure, host), REOPEN_S)
        except asyncio.TimeoutError:
            log.warning("Agents cannot be answered at %s yet: it takes long to find out what faces it.", host)
        except (RookeryError, OSError) as error:
            log.warning("Agents that look for the keeper at %s cannot be answered: %s", host, error)

    def _open(self, bound: str) -> _Door:
        server, app = self._server, self._app
        if server is None or app is None:
            raise KeeperUnavailableError("The keeper is starting. Try again.")
        if self._services.leaving:
            raise KeeperUnavailableError("The keeper is leaving. Try again; the next one answers.")
        tls = self._tls()
        _allow_many_files()
        sock = self._bind(bound)
        try:
            self._in_loop(add_listener(server, sock, app, tls))
        except BaseException:
            sock.close()
            raise
        return _Door(bound, sock.getsockname()[1], tls is not None)

    async def _tell(self) -> None:
        self._told()

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None
        done = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            done.result(OPEN_S)
        except BaseException:
            done.cancel()
            raise

    def _tls(self) -> Optional[ssl.SSLContext]:
        context = server_context(get_setting("agents_tls_cert", self._root), get_setting("agents_tls_key", self._root))
        if context is None and get_setting("agents_tls_ca", self._root):
            raise ConfigError("agents_tls_ca is set and agents_tls_cert is not: there is nothing to verify with it.")
        return context

    def _bind(self, bound: str) -> socket.socket:
        path = self._services.paths.agent_ports
        kept = _read_ports(path)
        asked = get_setting("agents_port", self._root)
        # The port of another address as a second choice: one hole in a firewall then serves for all.
        for port in (asked,) if asked else (*_unique(kept.get(bound, 0), *kept.values()), 0):
            try:
                sock = bind_tcp(bound, port)
                break
            except OSError as error:
                problem = error
        else:
            raise UserError(
                f"The keeper cannot listen for agents on {bound} port {port}: {problem.strerror or problem}. "
                "Change the settings agents_host and agents_port."
            )
        if not asked:
            keep_text(path, json.dumps({**kept, bound: sock.getsockname()[1]}))
        return sock


def _allow_many_files() -> None:
    """Every agent holds about six connections; the usual limit of 1024 files would end with a hundred and fifty nodes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def mark_as_agents(app: ASGIApp) -> ASGIApp:
    """The same app for requests that come through the agents' door, whatever they carry."""

    async def marked(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, LISTENER: AGENTS}, receive, send)

    return marked


def address_facing(facing: str) -> str:
    """The address of this machine that packets to `facing` (a host's name or address) leave from. Nothing is sent.

    Raises:
        ComputeError: it cannot be looked up, or there is no route.
    """
    host = facing.strip().strip("[]") or "127.0.0.1"
    try:
        found = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise ComputeError(f"{host!r} cannot be looked up from the keeper's machine: {error}.") from error
    for family, kind, protocol, _, address in found:
        try:
            with socket.socket(family, kind, protocol) as sock:
                sock.connect(address)
                return str(sock.getsockname()[0])
        except OSError as error:
            problem = error
    raise ComputeError(f"There is no route from the keeper's machine to {host}: {problem.strerror or problem}.")


def _host_of_target(row: dict[str, Any]) -> str:
    """Where the agents of a target look for the keeper, if they come over the network."""
    spec = row["spec"]
    reach = spec.get("reach") or {}
    if spec.get("engine", "embedded") == "embedded" or reach.get("transport") == "spool":
        return ""
    return urlsplit(reach.get("keeper_url") or "").hostname or ""


def _unique(*ports: int) -> list[int]:
    return list(dict.fromkeys(port for port in ports if port))


def _read_ports(path: str) -> dict[str, int]:
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        return {str(host): int(port) for host, port in data.items() if 0 < int(port) < 65536}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
