"""The smallest HTTP client that speaks our protocol: JSON, raw uploads and downloads, over a unix socket or
TCP.

Runs on Python 3.6. The worker uses it to ask its agent, the agent to reach the keeper, `rookery.client`
builds on it. One connection per thread, kept open; a request on a connection that the other side has closed
meanwhile is
sent again once.
"""

import http.client
import json
import os
import socket
import threading
from urllib.parse import quote, urlencode, urlsplit

from rookery.errors import KeeperUnavailableError, ServiceError, error_from_code

__all__ = ["HttpClient", "UnixHTTPConnection", "quote_path", "tcp_connector", "unix_connector", "url_connector"]

CHUNK = 1024 * 1024
PREFIX = "/api/v1"
# What the other side does to a kept-open connection that it no longer wants.
_STALE = (
    http.client.RemoteDisconnected,
    http.client.CannotSendRequest,
    ConnectionResetError,
    BrokenPipeError,
    ConnectionAbortedError,
)


class UnixHTTPConnection(http.client.HTTPConnection):
    """http.client over an AF_UNIX socket."""

    def __init__(self, path, timeout=60.0):
        super(UnixHTTPConnection, self).__init__("localhost", timeout=timeout)
        self.socket_path = path

    def connect(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self.socket_path)
        except BaseException:
            sock.close()
            raise
        self.sock = sock


def unix_connector(path, timeout=60.0):
    return lambda: UnixHTTPConnection(path, timeout)


def tcp_connector(host, port, timeout=60.0):
    return lambda: http.client.HTTPConnection(host, port, timeout=timeout)


def url_connector(url, ca_pem="", timeout=60.0):
    """For `http://host:port` and `https://host:port`; `ca_pem` says what is trusted (worker.tls).

    Raises:
        ValueError: this is no such address, or what is to be trusted is no certificate.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("{!r} is not a server's address. It has the form http://host:port.".format(url))
    if parts.scheme == "http":
        return tcp_connector(parts.hostname, parts.port or 80, timeout)
    from rookery.worker.tls import tls_connector

    return tls_connector(parts.hostname, parts.port or 443, ca_pem, timeout)


def quote_path(name):
    """A name as one or more path segments: everything but '/' is escaped."""
    return quote(name, safe="/")


class HttpClient(object):
    """Asks one server.

    Promises: thread-safe; a request either returns the answer or raises a RookeryError (the server's own, by
    its code, or KeeperUnavailableError when nothing answers); uploads and downloads never hold a file in
    memory.
    """

    def __init__(self, connect, token=None, prefix=PREFIX):
        self._connect = connect
        self._prefix = prefix
        self._headers = {"Authorization": "Bearer " + token} if token else {}
        self._local = threading.local()

    def request(self, method, path, query=None, body=None):
        """JSON in, JSON out. `path` is below /api/v1; `query` may hold lists; `body` is JSON data, or bytes
        sent as they are."""
        headers = dict(self._headers)
        data = None
        if isinstance(body, (bytes, bytearray)):
            data = bytes(body)
            headers["Content-Type"] = "application/octet-stream"
        elif body is not None:
            data = json.dumps(body).encode("utf-8")
            headers["Content-Type"] = "application/json"
        return self._answer(self._send(method, self._target(path, query), data, headers))

    def upload(self, path, source, headers=None):
        """PUT the bytes of `source` (bytes, or a seekable binary file from where it stands)."""
        all_headers = dict(self._headers)
        all_headers["Content-Type"] = "application/octet-stream"
        all_headers.update(headers or {})
        if isinstance(source, (bytes, bytearray)):
            data = bytes(source)
        else:
            start = source.tell()
            all_headers["Content-Length"] = str(source.seek(0, os.SEEK_END) - start)
            source.seek(start)
            data = source
        return self._answer(self._send("PUT", self._target(path, None), data, all_headers))

    def send_rest(self, path, source, offset, total):
        """PATCH the rest of a file of `total` bytes: `source.read` gives it, from `offset` on. Sent once: whoever calls asks
        how much has arrived before the next try."""
        headers = dict(self._headers)
        headers["Content-Type"] = "application/octet-stream"
        headers["Content-Length"] = str(total - offset)
        headers["Upload-Offset"], headers["Upload-Length"] = str(offset), str(total)
        self.close()  # a connection that the other side has closed meanwhile would look like a lost part
        try:
            return self._answer(self._send("PATCH", self._target(path, None), source, headers))
        except BaseException:
            self.close()
            raise

    def download(self, path, target, query=None):
        """GET raw bytes into the binary file `target`; returns how many."""
        return self.download_rest(path, target, 0, query)

    def download_rest(self, path, target, start, query=None):
        """The same from byte `start` on, at the file's end, where the other side can do that; else it begins again."""
        headers = dict(self._headers)
        if start:
            headers["Range"] = "bytes={}-".format(start)
        response = self._send("GET", self._target(path, query), None, headers)
        if response.status >= 400:
            self._check(response, self._read(response))
        if start and response.status != 206:
            target.seek(0)
            target.truncate()
        expected = response.getheader("Content-Length")
        total = 0
        while True:
            chunk = self._read(response, CHUNK)
            if not chunk:
                break
            target.write(chunk)
            total += len(chunk)
        if expected is not None and total != int(expected):
            # http.client takes a connection lost in the middle of a sized read for the end of the body.
            self.close()
            raise KeeperUnavailableError(
                "The keeper went away after {} of {} bytes of {}".format(total, expected, path)
            )
        return total

    def with_prefix(self, prefix):
        """The same server below another path: an agent's own routes are not below /api/v1."""
        other = HttpClient(self._connect, prefix=prefix)
        other._headers = self._headers
        return other

    def close(self):
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _answer(self, response):
        text = self._read(response)
        self._check(response, text)
        return json.loads(text.decode("utf-8")) if text else {}

    def _read(self, response, size=None):
        try:
            return response.read() if size is None else response.read(size)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise KeeperUnavailableError(
                "The keeper went away in the middle of an answer: {}".format(error), error
            ) from error

    def _target(self, path, query):
        target = self._prefix + path
        pairs = {k: v for k, v in (query or {}).items() if v is not None}
        return target + "?" + urlencode(pairs, doseq=True) if pairs else target

    def _send(self, method, target, data, headers):
        fresh = False
        if getattr(self._local, "pid", None) != os.getpid():
            # After a fork the parent's connection must not be shared.
            self._local.connection, self._local.pid = None, os.getpid()
        for _ in range(2):
            connection = self._local.connection
            try:
                if connection is None:
                    connection, fresh = self._connect(), True
                    self._local.connection = connection
                if hasattr(data, "seek") and not fresh:
                    start = data.tell()
                connection.request(method, target, body=data, headers=headers)
                return connection.getresponse()
            except _STALE as error:
                self.close()
                if fresh:
                    raise KeeperUnavailableError(
                        "The keeper closed the connection during {} {}: {}".format(method, target, error),
                        error,
                    ) from error
                if hasattr(data, "seek"):
                    data.seek(start)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                raise KeeperUnavailableError(
                    "No answer to {} {}: {}".format(method, target, error or type(error).__name__), error
                ) from error
        raise KeeperUnavailableError("No answer to {} {}".format(method, target))

    def _check(self, response, text):
        if response.status < 400:
            return
        try:
            error = json.loads(text.decode("utf-8"))["error"]
            code, message, details = error["code"], error["message"], error.get("details") or {}
        except (ValueError, KeyError, TypeError):
            raise ServiceError(
                "Unexpected answer {} {}: {!r}".format(response.status, response.reason, text[:200])
            ) from None
        raise error_from_code(code, message, details)
