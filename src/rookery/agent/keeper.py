"""The agent's connection to its keeper: endless patience. A keeper that is away is waited for, and started
where that can be done."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, TypeVar
from urllib.parse import urlsplit

from rookery.agent.disk import read_json
from rookery.agent.tree import STARTED_BY
from rookery.errors import KeeperUnavailableError, RookeryError
from rookery.spec.job import Job
from rookery.spec.protocol import PREFIX
from rookery.worker.http import HttpClient, quote_path, tcp_connector, unix_connector, url_connector

if TYPE_CHECKING:
    from rookery.agent.spool import SpoolFolder  # imported where it is used: most agents reach their keeper otherwise

__all__ = ["Gone", "Keeper"]

FIRST_PAUSE_S = 0.05
LAST_PAUSE_S = 2.0
START_AFTER_S = 2.0
START_AGAIN_S = 20.0
GIVE_UP_S = 7 * 86400.0  # on another machine, which nobody looks after once its keeper is gone for good
DIAL_S = 10.0  # for one address; another may answer
# The keeper is away, failed inside, or its disk is full: all of them may pass.
RETRIED = ("keeper_unavailable", "service", "error", "storage")
T = TypeVar("T")


class Gone(Exception):
    """The folder of this attempt has been removed: there is nobody left to tell."""


class Keeper:
    """Asks the keeper, as often as it takes.

    Promises: `call` returns the answer or raises what the keeper said (a RookeryError of 4xx); it never
    raises because the keeper is away, restarts, or fails inside (5xx). Raises Gone when the attempt's folder
    is no longer
    there.
    """

    def __init__(self, job: Job, alive_file: str, say: Callable[[str], None]) -> None:
        self._job = job
        self._alive_file = alive_file
        self._say = say
        self._lock = threading.Lock()
        self._client: Optional[HttpClient] = None
        self._last_start = 0.0
        self._answered = ""
        self._said = ""
        self._spool = _spool_folder(job.keeper.spool) if job.keeper.spool else None
        self._stopped = threading.Event()
        self.base = f"/agent/{quote_path(job.run_id)}/{job.attempt}/{job.node}/"

    def stop(self) -> None:
        """Let waiting calls give up (with Gone)."""
        self._stopped.set()

    def call(self, method: str, path: str, query: Optional[dict[str, Any]] = None, body: Any = None) -> Any:
        """One of the agent's own routes: `call("POST", "hello", body=…)`."""
        return self.patiently(lambda client: client.request(method, self.base + path, query=query, body=body))

    def request(self, method: str, path: str, query: Optional[dict[str, Any]] = None, body: Any = None) -> Any:
        """Any route below /api/v1."""
        return self.patiently(lambda client: client.request(method, path, query=query, body=body))

    def upload(self, path: str, file: str, sha256: str) -> Any:
        def send(client: HttpClient) -> Any:
            with open(file, "rb") as f:
                return client.upload(path, f, {"X-Content-SHA256": sha256})

        return self.patiently(send)

    def download(self, path: str, file: str) -> None:
        """A file, whole. What is addressed by its hash goes on where a broken connection has left it."""
        with open(file, "wb") as f:

            def fetch(client: HttpClient) -> None:
                start = f.tell() if path.startswith("/content/") else 0
                f.truncate(f.seek(start))
                client.download_rest(path, f, start)

            self.patiently(fetch)

    def pause(self, seconds: float) -> None:
        """Waits, unless nobody wants this agent any more (then Gone)."""
        self._stopped.wait(seconds)
        self.check_alive()

    def once(self, use: Callable[[HttpClient], T]) -> T:
        """One try. Raises KeeperUnavailableError when nothing answers."""
        client = self.client()
        try:
            return use(client)
        except KeeperUnavailableError:
            self._forget(client)
            raise

    def patiently(self, use: Callable[[HttpClient], T]) -> T:
        pause, since = FIRST_PAUSE_S, time.monotonic()
        while True:
            try:
                return self.once(use)
            except RookeryError as error:
                if error.code not in RETRIED:
                    raise
                reason = str(error)
            self.check_alive()
            if "node" in self._job.extra and time.monotonic() - since >= GIVE_UP_S:
                self._say(f"no keeper for {GIVE_UP_S / 86400:.0f} days ({reason}): giving up")
                raise Gone
            if time.monotonic() - since >= START_AFTER_S:
                self._start(reason)
            self._stopped.wait(pause)
            pause = min(pause * 1.6, LAST_PAUSE_S)

    def is_wanted(self) -> bool:
        return not self._stopped.is_set() and os.path.exists(self._alive_file)

    def check_alive(self) -> None:
        if not self.is_wanted():
            raise Gone

    def client(self) -> HttpClient:
        with self._lock:
            if self._client is None:
                # A server behind a proxy has a path before ours; listeners for agents have none.
                before = urlsplit(self._job.keeper.url).path.rstrip("/")
                self._client = HttpClient(self.connector(), self._job.token, prefix=before + PREFIX)
            return self._client

    def connector(self, timeout: float = 60.0) -> Callable[[], Any]:
        """How to open a connection now; keeper.json is read again, because a new keeper may have another
        socket.

        On the keeper's own machine through its socket, elsewhere at one of the addresses for agents, and where
        there are none through files.
        """
        address = self._job.keeper
        endpoint = (read_json(address.endpoint_file) if address.endpoint_file else None) or {}
        given = [url for url in (address.url, *address.urls) if url]
        is_far = bool(given or address.spool)
        if endpoint and (not is_far or endpoint.get("hostname") == socket.gethostname()):
            if endpoint.get("socket") and os.path.exists(endpoint["socket"]):
                return unix_connector(endpoint["socket"], timeout)
            if endpoint.get("port") and not endpoint.get("tls"):
                return tcp_connector(endpoint.get("host") or "127.0.0.1", endpoint["port"], timeout)
        if given:
            urls = list(dict.fromkeys((*given, *_fresh_urls(endpoint))))
            return lambda: self._dial(urls, timeout)
        if self._spool is not None:
            spool = self._spool
            return lambda: spool.connection(timeout)
        raise KeeperUnavailableError(f"There is no keeper: {address.endpoint_file or 'no address'} cannot be read.")

    def _dial(self, urls: list[str], timeout: float) -> Any:
        """A connection that stands, at the first of these addresses that answers; the one that did goes first."""
        problems = []
        for url in sorted(urls, key=lambda url: url != self._answered):
            try:
                connection = url_connector(url, self._job.keeper.certificate, min(timeout, DIAL_S))()
                connection.connect()
            except (OSError, ValueError) as error:
                problems.append(f"{url}: {error}")
                continue
            connection.timeout = timeout
            connection.sock.settimeout(timeout)
            self._answered = url
            return connection
        raise ConnectionError("; ".join(problems))

    def _forget(self, client: HttpClient) -> None:
        with self._lock:
            if self._client is client:
                self._client = None

    def _start(self, reason: str) -> None:
        command = self._job.keeper.start_command
        if not command and reason != self._said:
            self._said = reason
            self._say(f"the keeper does not answer; it is tried again and again ({reason})")
        with self._lock:
            if not command or time.monotonic() - self._last_start < START_AGAIN_S:
                return
            self._last_start = time.monotonic()
        self._say(f"no keeper ({reason}); starting one")
        variables = {k: v for k, v in os.environ.items() if k not in ("ROOKERY_ATTEMPT_KEY", "PYTHONDONTWRITEBYTECODE")}
        variables[STARTED_BY] = f"{self._job.run_id}/{self._job.attempt}"
        try:
            subprocess.run(
                list(command),
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            self._say(f"the keeper could not be started: {error}")


def _spool_folder(folder: str) -> SpoolFolder:
    from rookery.agent.spool import SpoolFolder

    return SpoolFolder(folder)


def _fresh_urls(endpoint: dict[str, Any]) -> list[str]:
    """Where the keeper listens for agents by now, as far as its files are seen here."""
    agents = endpoint.get("agents")
    urls = agents.get("urls") if isinstance(agents, dict) else None
    return [str(url) for url in urls] if isinstance(urls, list) else []
