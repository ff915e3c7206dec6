"""Connections: how long a client may take to say what it wants, and how many of them may wait at a time.

Uvicorn gives a client all the time in the world for the head of a request, and takes as many connections as there are files.
Whoever trickles a byte now and then, or opens a connection and is silent, would sooner or later hold all of them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import sys
from typing import Any, Optional

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from rookery import __version__

__all__ = ["Connection", "quieten"]

HEAD_S = 30.0  # from the first byte of a request, or from connecting, to the end of its head
BODY_S = 120.0  # without a byte of a body that was announced
STUCK_S = 300.0  # without a byte taken of an answer
SWEEP_S = 5.0
SPARE_FILES = 256  # of those that the process may open: for the database, uploads, downloads, children
LEAST = 64
_NOISE = ("Invalid HTTP request received.", "Unsupported upgrade request.", "No supported WebSocket library detected.")


class Connection(H11Protocol):
    """One client's connection.

    Promises: who takes too long is cut off; when there are too many, those go first that have been silent for longest, and
    never one whose request is under way; what is no HTTP gets an answer in the one shape of errors.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._last = self.loop.time()
        self._began: Optional[float] = self._last  # of the head that is being waited for; None between requests
        self._stuck: Optional[float] = None
        self.is_sent_away = False
        guard = _guard_of(self)
        guard.watch()
        guard.make_room(self)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        super().connection_lost(exc)
        if self.is_sent_away:
            _guard_of(self).leaving -= 1

    def data_received(self, data: bytes) -> None:
        self._last = self.loop.time()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._began = None  # the head is there
        elif self._began is None:
            self._began = self._last

    def pause_writing(self) -> None:
        self._stuck = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stuck = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What could not be parsed. Called while the parser's error is being handled."""
        error = sys.exc_info()[1]
        is_head = getattr(error, "error_status_hint", 400) == 431
        sentence = f"This is no HTTP request that can be read: {error or msg}."
        self._refuse(431 if is_head else 400, "The head of the request is too large." if is_head else sentence)

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way here."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_local(self) -> bool:
        """Whether it came through the socket file."""
        return bool(self.server) and self.server[1] is None  # type: ignore[index]

    def cut_if_late(self, now: float) -> None:
        if self.is_idle:
            if self._began is None or now - self._began <= HEAD_S:
                return  # Uvicorn's own time for the next request of a connection, where there was one
            if self._last == self._began and self.cycle is None and not self.conn.trailing_data[0]:
                self.transport.close()  # not a word: a browser does that, and would take words for the answer to come
                return
            self._refuse(408, f"The head of a request did not come within {HEAD_S:g} s.")
            return
        is_mute = self.cycle.more_body and not self.flow.read_paused and now - self._last > BODY_S
        is_deaf = self._stuck is not None and now - self._stuck > STUCK_S
        if is_mute or is_deaf:
            self.transport.abort()

    def _refuse(self, status: int, sentence: str) -> None:
        """An answer without a request that could be handed on, and the end."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = json.dumps({"error": {"code": "user_error", "message": sentence, "details": {}}}).encode("ascii")
            head = (
                f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                f"X-Rookery-Version: {__version__}\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + body)
        self.transport.close()


_PHRASES = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}


class _Guard:
    """Looks after all connections of one server, whichever listener they came through."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: set[Any]) -> None:
        self._loop, self._connections = loop, connections
        self._timer: Optional[asyncio.TimerHandle] = None
        self.leaving = 0  # sent away, and still to be closed by the loop

    def watch(self) -> None:
        """While there are connections there is a sweep every few seconds, otherwise nothing."""
        if self._timer is None:
            self._timer = self._loop.call_later(SWEEP_S, self._sweep)

    def make_room(self, newest: Connection) -> None:
        most = _most()
        if len(self._connections) - self.leaving <= most:
            return
        idle = [one for one in self._connections if isinstance(one, Connection) and _may_go(one) and one is not newest]
        if not idle and not newest.is_local:
            idle = [newest]
        # Some at a time, strangers' before the owner's: this is no work to be done again for the next connection.
        idle.sort(key=lambda one: (one.is_local, one._last))
        for one in idle[: max(1, most // 20)]:
            one.is_sent_away = True
            self.leaving += 1
            one.transport.abort()

    def _sweep(self) -> None:
        self._timer = None
        now = self._loop.time()
        for one in list(self._connections):
            if isinstance(one, Connection) and not one.transport.is_closing():
                one.cut_if_late(now)
        if self._connections:
            self.watch()


def _may_go(connection: Connection) -> bool:
    return connection.is_idle and not connection.transport.is_closing()


def quieten() -> None:
    """Strangers' rubbish is no line of the keeper's log: they would fill the disk with it."""
    logger = logging.getLogger("uvicorn.error")
    if _is_news not in logger.filters:
        logger.addFilter(_is_news)


def _is_news(line: logging.LogRecord) -> bool:
    return not line.getMessage().startswith(_NOISE)


def _guard_of(connection: Connection) -> _Guard:
    state: Any = connection.server_state
    found = getattr(state, "rookery_guard", None)
    if found is None:
        found = state.rookery_guard = _Guard(connection.loop, connection.connections)
    return found


def _most() -> int:
    """How many connections may be open: of the files that may, some are for other things."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if soft == resource.RLIM_INFINITY else max(LEAST, soft - SPARE_FILES)
