"""The client of a workspace: asks its keeper over HTTP, and brings the keeper back where it has gone."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, BinaryIO, Optional, Union
from urllib.parse import urlsplit

from rookery.client.config import WorkspaceAddress
from rookery.client.handshake import check_protocol, say_hello
from rookery.client.part import FilePart
from rookery.client.pool import ConnectionPool
from rookery.client.retry import may_repeat
from rookery.client.start import REQUEST_TIMEOUT_S, reach_keeper
from rookery.client.stream import EventStream
from rookery.errors import (
    ConfigError,
    KeeperUnavailableError,
    NotFoundError,
    RookeryError,
    RunEnvironmentError,
    StorageError,
    UserError,
)
from rookery.settings import get_setting
from rookery.spec.protocol import PREFIX
from rookery.worker.http import CHUNK, HttpClient, UnixHTTPConnection, url_connector

__all__ = ["Client"]

TRIES = 5
_LOST = (OSError, http.client.HTTPException)
_Connect = Callable[[], http.client.HTTPConnection]
# By (root, start, pid). No lock: dict operations are atomic, and a lock held at a fork would be held for ever
# in the child.
_clients: dict[tuple[str, bool, int], Client] = {}


class Client(HttpClient):
    """Asks the keeper of one workspace.

    Promises: safe from many threads and after a fork; a request either returns the answer or raises a
    RookeryError; when the keeper has gone, one is found or started and the request sent again where
    `retry.may_repeat` allows it; files are never held in memory.
    """

    def __init__(
        self,
        connect: _Connect,
        token: Optional[str] = None,
        root: Optional[str] = None,
        url: Optional[str] = None,
    ) -> None:
        super().__init__(connect, token, _prefix_of(url) + PREFIX)
        self.root = root
        self.url = url
        self.certificate = ""  # PEM text: what a server at https:// is verified with; empty: what the machine trusts
        self._pool = ConnectionPool()

    @classmethod
    def for_workspace(cls, root: str, start: bool = True) -> Client:
        """The client of the workspace in this folder; one per process. Its keeper is started if there is
        none.

        start: False never starts one: KeeperUnavailableError when none is running.
        """
        root = os.path.realpath(root)
        key = (root, start, os.getpid())
        client = _clients.get(key)
        if client is None:
            client = cls(lambda: reach_keeper(root, start), root=root)
            client._pool.give_back(client._connect())
            client = _clients.setdefault(key, client)
        return client

    @classmethod
    def for_url(cls, url: str, token: Optional[str] = None, ca: Optional[str] = None) -> Client:
        """The client of a server at `http://host:port` or `https://host:port`, with its prefix where it has one.

        ca: PEM file of what is trusted: an authority, or the server's own certificate. None: the setting server_ca, and
            where that is empty what the machine trusts.
        """
        made = cls(_url_connect(url, ca), token=token, url=url.rstrip("/"))
        made.certificate = _trusted(ca) if url.startswith("https:") else ""
        return made

    @classmethod
    def for_address(cls, address: WorkspaceAddress) -> Client:
        """The client for what a config file says."""
        if address.url:
            return cls.for_url(address.url, address.token, address.ca)
        return cls.for_workspace(address.root or "")

    @classmethod
    def in_run(cls) -> Client:
        """The client inside a run: through its agent, with the run's own rights.

        Raises:
            RunEnvironmentError: this process is not part of a run.
        """
        path = os.environ.get("ROOKERY_AGENT_SOCKET")
        if not path:
            raise RunEnvironmentError(
                "This process is not part of a run: ROOKERY_AGENT_SOCKET is not set. Submit it with `rookery run`."
            )
        # No handshake: the agent is of the same payload, and has shaken hands with the keeper itself.
        return cls(lambda: UnixHTTPConnection(path, REQUEST_TIMEOUT_S))

    def request(
        self,
        method: str,
        path: str,
        query: Optional[dict[str, Any]] = None,
        body: Any = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> Any:
        """JSON in, JSON out. `path` is below /api/v1; `query` may hold lists; `body` is JSON data, or bytes
        sent as they are."""
        headers = dict(self._headers)
        data = None
        if isinstance(body, (bytes, bytearray, memoryview)):
            data = bytes(body)
            headers["Content-Type"] = "application/octet-stream"
        elif body is not None:
            data = json.dumps(body).encode("utf-8")
            headers["Content-Type"] = "application/json"
        text = self._exchange(method, path, query, data, headers, timeout_s=timeout_s)
        return json.loads(text.decode("utf-8")) if text else {}

    def raw(
        self,
        method: str,
        path: str,
        body: Optional[bytes] = None,
        headers: Optional[dict[str, str]] = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> tuple[int, dict[str, str], bytes]:
        """One request as it is, sent once, and its answer whatever its status: (status, headers by lower-case name, bytes).

        For what the keeper passes on to something else, whose errors are not the keeper's.
        """
        target = self._target(path, None)
        connection = self._connect()
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            connection.request(method, target, body=body, headers={**self._headers, **(headers or {})})
            response = connection.getresponse()
            text = response.read()
        except _LOST as error:
            if isinstance(error, RookeryError):
                raise
            raise _unavailable(method, target, error) from error
        finally:
            connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, text

    def exists(self, path: str) -> bool:
        """HEAD: whether it is there."""
        try:
            self._exchange("HEAD", path, None, None, dict(self._headers))
        except NotFoundError:
            return False
        return True

    def upload(
        self, path: str, source: Union[bytes, BinaryIO, FilePart], headers: Optional[dict[str, str]] = None
    ) -> Any:
        """PUT the bytes of `source` (bytes, or a seekable binary file from where it stands)."""
        all_headers = dict(self._headers, **{"Content-Type": "application/octet-stream"})
        all_headers.update(headers or {})
        data: Union[bytes, FilePart]
        if isinstance(source, (bytes, bytearray)):
            data = bytes(source)
        else:
            data = source if isinstance(source, FilePart) else _rest_of(source)
            all_headers["Content-Length"] = str(data.size)
        text = self._exchange("PUT", path, None, data, all_headers)
        return json.loads(text.decode("utf-8")) if text else {}

    def post(self, path: str, part: FilePart, query: Optional[dict[str, Any]] = None) -> Any:
        """POST the bytes of `part`, once: whether they arrived is the caller's to find out before it tries again."""
        headers = dict(self._headers, **{"Content-Type": "application/octet-stream", "Content-Length": str(part.size)})
        text = self._exchange("POST", path, query, part, headers, tries=1)
        return json.loads(text.decode("utf-8")) if text else {}

    def send_part(self, path: str, part: FilePart, offset: int) -> Any:
        """PATCH the bytes of a file from `offset` on, once: the caller asks how much has arrived before it tries again."""
        part.seek(offset)
        headers = dict(
            self._headers,
            **{
                "Content-Type": "application/octet-stream",
                "Content-Length": str(part.size - offset),
                "Upload-Offset": str(offset),
                "Upload-Length": str(part.size),
            },
        )
        text = self._exchange("PATCH", path, None, part, headers, tries=1)
        return json.loads(text.decode("utf-8")) if text else {}

    def download(self, path: str, target: BinaryIO, query: Optional[dict[str, Any]] = None) -> int:
        """GET raw bytes into the binary file `target`; how many. After a loss it goes on where it was, if the file is
        still the same; else it begins again, for which `target` must be seekable."""
        sink = _Sink(target)
        self._exchange("GET", path, query, None, dict(self._headers), sink)
        return sink.total

    def stream(self, path: str, query: Optional[dict[str, Any]] = None, after: Optional[int] = None) -> EventStream:
        """The events of `path` with a larger sequence number than `after`, as an iterator of (kind, seq,
        data) that survives the loss of the keeper."""
        return EventStream(
            self._connect,
            lambda last: self._target(path, dict(query or {}, after=last)),
            self._check,
            self._headers,
            after,
        )

    def close(self) -> None:
        """Let go of the connections. The client stays usable."""
        self._pool.clear()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)
        if pool is not None:
            pool.clear()

    def _exchange(
        self,
        method: str,
        path: str,
        query: Any,
        data: Any,
        headers: dict[str, str],
        sink: Optional[_Sink] = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
        tries: int = TRIES,
    ) -> bytes:
        """One request and the whole of its answer, sent again where the keeper was lost and the rule allows
        it."""
        target = self._target(path, query)
        start = data.tell() if hasattr(data, "seek") else None
        n, had = 0, 0
        while True:
            n += 1
            exchange = _Exchange(self._pool, self._connect, timeout_s)
            try:
                response, text = exchange.run(method, target, data, headers, sink)
            except socket.timeout as error:  # only since Python 3.10 the same as TimeoutError
                raise KeeperUnavailableError(
                    f"No answer to {method} {target} within {timeout_s:g} s.", error
                ) from error
            except _LOST as error:
                if isinstance(error, RookeryError) and (self.root or not isinstance(error, KeeperUnavailableError)):
                    raise  # about something else; or a keeper has been looked for and started in vain
                if sink is not None and sink.total > had:
                    n, had = 1, sink.total  # every piece that came is a success
                if (
                    n >= tries
                    or not may_repeat(method, path, exchange.was_sent)
                    or (sink is not None and not sink.can_go_on(headers))
                ):
                    raise _unavailable(method, target, error) from error
                self._pool.clear()  # the others lead to the same keeper
                if start is not None:
                    data.seek(start)
                time.sleep(0.02 * 4 ** (n - 1) if n > 1 else 0)
                continue
            if method == "HEAD" and response.status == 404:
                raise NotFoundError(f"{path} is not there.")
            self._check(response, text)
            return text


class _Exchange:
    """One try at a request."""

    def __init__(self, pool: ConnectionPool, connect: _Connect, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        self._pool, self._connect, self._timeout_s = pool, connect, timeout_s
        self.was_sent = False

    def run(
        self, method: str, target: str, data: Any, headers: dict[str, str], sink: Optional[_Sink]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = self._pool.take() or self._connect()
        connection.blocksize = CHUNK  # files are read in pieces of this size; the default is 8 KiB
        if connection.sock is not None and connection.sock.gettimeout() != self._timeout_s:
            connection.sock.settimeout(self._timeout_s)
        try:
            try:
                connection.request(method, target, body=data, headers=headers)
                self.was_sent = True
            except (BrokenPipeError, ConnectionResetError):
                # It may have refused the body half way, and said why.
                response = connection.getresponse()
                if response.status < 400:
                    raise
            else:
                response = connection.getresponse()
            if sink is not None and response.status < 400:
                text = b""
                sink.begin(response)
                while True:
                    chunk = response.read(CHUNK)
                    if not chunk:
                        break
                    sink.write(chunk)
                if response.length:
                    raise http.client.IncompleteRead(b"", response.length)
            else:
                text = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._pool.give_back(connection)
        return response, text


class _Sink:
    """Where a download goes; it can go on, or begin again."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._start = target.tell() if target.seekable() else None
        self.total = 0
        self._etag: Optional[str] = None

    def can_go_on(self, headers: dict[str, str]) -> bool:
        """Asks for the rest, where what has come has a name; else for everything again. False: neither is possible."""
        headers.pop("Range", None)
        if self.total and self._etag:
            headers["Range"] = f"bytes={self.total}-"
            return True
        return self.rewind()

    def begin(self, response: http.client.HTTPResponse) -> None:
        """An answer has come: the rest of what is here, or something else from its start."""
        etag = response.getheader("ETag")
        if self.total and not (response.status == 206 and etag == self._etag):
            self._etag = None
            if not self.rewind() or response.status == 206:
                raise http.client.HTTPException("the file has changed meanwhile")
        self._etag = etag

    def write(self, chunk: bytes) -> None:
        try:
            self._target.write(chunk)
        except OSError as error:
            raise StorageError(f"What is downloaded cannot be written: {error.strerror or error}.") from error
        self.total += len(chunk)

    def rewind(self) -> bool:
        if self.total == 0:
            return True
        if self._start is None:
            return False
        self._target.seek(self._start)
        self._target.truncate()
        self.total = 0
        return True


def _rest_of(file: BinaryIO) -> FilePart:
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    return FilePart(file, size)


def _url_connect(url: str, ca: Optional[str]) -> _Connect:
    trusted = _trusted(ca) if url.startswith("https:") else ""
    try:
        make = url_connector(url, trusted, REQUEST_TIMEOUT_S)
    except ValueError as error:
        raise UserError(str(error)) from error

    def connect() -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection = make()
        try:
            check_protocol(say_hello(connection, _prefix_of(url)))
        except ssl.SSLCertVerificationError as error:
            connection.close()
            raise _not_trusted(url, error) from error
        except BaseException:
            connection.close()
            raise
        return connection

    return connect


def _prefix_of(url: Optional[str]) -> str:
    """The path of a server's address: `/rookery` of https://host/rookery."""
    return urlsplit(url).path.rstrip("/") if url else ""


def _trusted(ca: Optional[str]) -> str:
    path = ca or get_setting("server_ca")
    if not path:
        return ""
    try:
        with open(os.path.expanduser(path), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError as error:
        raise ConfigError(
            f"{path}, which says what certificates to trust, cannot be read: {error.strerror}. Mend `ca` in config.json, "
            "or the setting server_ca."
        ) from error


def _not_trusted(url: str, error: ssl.SSLCertVerificationError) -> ConfigError:
    """Waiting does not change it, so it is not a server that is away."""
    return ConfigError(
        f"The certificate of {url} is not trusted: {error.verify_message or error}. Name the file of its authority, or of the "
        "certificate itself, as `ca` in config.json or in the setting server_ca (ROOKERY_SERVER_CA)."
    )


def _unavailable(method: str, target: str, error: BaseException) -> KeeperUnavailableError:
    if isinstance(error, KeeperUnavailableError):
        return error
    plain = target.partition(PREFIX)[2].partition("?")[0]
    return KeeperUnavailableError(f"No answer to {method} {plain}: {error or type(error).__name__}", error)


def _close_all() -> None:
    for client in list(_clients.values()):
        client.close()


atexit.register(_close_all)
