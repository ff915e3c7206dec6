"""The agent's own socket: ranks ask here, and what is meant for the keeper is passed on, streams and large
uploads included."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Optional, Protocol

from rookery.agent.keeper import Gone, Keeper
from rookery.errors import KeeperUnavailableError

__all__ = ["Handler", "Relay", "Services", "listen"]

PIECE = 256 * 1024
WAIT_FOR_KEEPER_S = 50.0  # the ranks' own patience is 60 s
NOT_PASSED_ON = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
    )
)


class Services(Protocol):
    """What the agent does for its ranks."""

    def drain(self, timeout_s: float) -> bool: ...

    def finish(self, status: str, error: Optional[dict[str, Any]]) -> dict[str, Any]: ...

    def identity(self) -> dict[str, Any]: ...


def listen(path: str) -> socket.socket:
    """A listening socket, mode 600. Ranks may connect from now on; answers come when a Relay runs."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(path)
    finally:
        os.umask(before)
    sock.listen(128)
    return sock


class Relay:
    """Serves a listening socket in threads of its own."""

    def __init__(self, sock: socket.socket, keeper: Keeper, services: Services, token: str) -> None:
        self._server = _Server(sock, keeper, services, token)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.5,), name="relay", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def last_use(self) -> float:
        """When (monotonic) a rank last asked something or was told something; 0 for never."""
        return self._server.last_use

    def settle(self, timeout_s: float = 5.0) -> None:
        """Wait until the answers to our own routes are out: the process is about to leave."""
        with self._server.idle:
            self._server.idle.wait_for(lambda: self._server.busy == 0, timeout_s)

    def stop(self) -> None:
        """Serve no more. An agent simply leaves instead."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, sock: socket.socket, keeper: Keeper, services: Services, token: str) -> None:
        super().__init__(sock.getsockname(), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = sock
        self.keeper, self.services, self.token = keeper, services, token
        self.idle = threading.Condition()
        self.busy = 0
        self.last_use = 0.0

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a rank that went away in the middle of an answer


class Handler(BaseHTTPRequestHandler):
    """One request of a rank. `server` has a keeper, a token (added where a request brings none) and `last_use`."""

    server: Any
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = False

    def address_string(self) -> str:
        return "rank"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.last_use = time.monotonic()
        self.answer()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

    def answer(self) -> None:
        path = self.path.split("?", 1)[0]
        if path.startswith("/api/"):
            self.pass_on()
            return
        with self.server.idle:
            self.server.busy += 1
        try:
            self._own(path)
        finally:
            with self.server.idle:
                self.server.busy -= 1
                self.server.idle.notify_all()

    def _own(self, path: str) -> None:
        if path == "/drain" and self.command == "POST":
            self._drain()
        elif path == "/finish" and self.command == "POST":
            body = self._json()
            self._reply(200, self.server.services.finish(str(body.get("status") or "Completed"), body.get("error")))
        elif path == "/agent":
            self._reply(200, self.server.services.identity())
        else:
            self.fail(
                404,
                "not_found",
                f"The agent has no {self.command} {path}. Known: /api/v1/…, /drain, /finish, /agent.",
            )

    def _drain(self) -> None:
        timeout_s = float(self._json().get("timeout_s") or 0)
        if self.server.services.drain(timeout_s):
            self._reply(200, {})
        else:
            text = (
                f"Not everything was stored within {timeout_s:g} s (timeout_seconds). The keeper may be "
                "away; it is still tried."
            )
            self.fail(504, "service", text)

    def pass_on(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        try:
            connection = self._connect()
        except (Gone, KeeperUnavailableError) as error:
            self.close_connection = True
            self.fail(503, "keeper_unavailable", f"The keeper does not answer: {error or 'the run is over'}")
            return
        try:
            self._send(connection, length)
            self._give_back(connection.getresponse())
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # half an answer cannot be mended: the rank asks again
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        """A connection that stands. Waits for a keeper that is away, as long as the rank would."""
        deadline = time.monotonic() + WAIT_FOR_KEEPER_S
        pause = 0.05
        while True:
            try:
                connection: http.client.HTTPConnection = self.server.keeper.connector(3600.0)()
                connection.connect()
                return connection
            except (OSError, KeeperUnavailableError) as error:
                self.server.keeper.check_alive()
                if time.monotonic() >= deadline:
                    raise KeeperUnavailableError(str(error)) from error
            time.sleep(pause)
            pause = min(pause * 1.6, 1.0)

    def _send(self, connection: http.client.HTTPConnection, length: int) -> None:
        connection.putrequest(self.command, self.path, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in NOT_PASSED_ON:
                connection.putheader(name, value)
        if "Authorization" not in self.headers and self.server.token:
            connection.putheader("Authorization", "Bearer " + self.server.token)
        connection.putheader("Connection", "close")
        connection.endheaders()
        left = length
        while left:
            data = self.rfile.read(min(left, PIECE))
            if not data:
                raise ConnectionError("the rank went away")
            connection.send(data)
            left -= len(data)

    def _give_back(self, response: http.client.HTTPResponse) -> None:
        self.send_response_only(response.status, response.reason)
        size = response.getheader("Content-Length")
        for name, value in response.getheaders():
            if name.lower() not in NOT_PASSED_ON:
                self.send_header(name, value)
        if size is None and self.command != "HEAD" and response.status not in (204, 304):
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        given = 0
        while True:
            data = response.read1(PIECE)
            if not data:
                break
            self.wfile.write(data)
            self.server.last_use = time.monotonic()
            given += len(data)
        if size is not None and given != int(size):
            self.close_connection = True  # the keeper went away: the rank must not wait for the rest

    def _json(self) -> dict[str, Any]:
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(text) if text else {}
        except ValueError:
            body = {}
        return body if isinstance(body, dict) else {}

    def fail(self, status: int, code: str, message: str) -> None:
        self._reply(status, {"error": {"code": code, "message": message, "details": {}}})

    def _reply(self, status: int, data: Any) -> None:
        text = json.dumps(data).encode("utf-8")
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if self.close_connection:
            self.send_header("Connection", "close")  # or the next request is sent into a connection that is going
        self.end_headers()
        self.wfile.write(text)
