"""Following the keeper's events: server-sent events on a connection of their own that finds its way back by
itself."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional

from rookery.errors import KeeperUnavailableError, RookeryError

__all__ = ["Event", "EventStream"]

# The keeper says ': keep-alive' every 15 s; after two that did not come, the connection is lost.
SILENCE_S = 40.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0
# How long nothing at all may be reachable before the reader is told. A server that restarts is back by then.
GIVE_UP_S = 300.0
_LOST = (OSError, http.client.HTTPException, ValueError, AttributeError)


class Event(NamedTuple):
    kind: str
    seq: int
    data: Any


class EventStream:
    """An iterator of events, in order, each once.

    Promises: when the connection or the keeper is lost it connects again (starting a keeper where that is the
    client's way) and goes on after the last event it gave. Ends after `end`, which it gives too, or when
    closed. `close()` may be called from any thread and wakes a reader that waits. An answer that cannot
    change by waiting (no such run) is raised.
    """

    def __init__(
        self,
        connect: Callable[[], http.client.HTTPConnection],
        target: Callable[[Optional[int]], str],
        check: Callable[[http.client.HTTPResponse, bytes], None],
        headers: dict[str, str],
        after: Optional[int] = None,
    ) -> None:
        self._connect, self._target, self._check = connect, target, check
        self._headers = dict(headers, Accept="text/event-stream")
        self.last_seq = after
        self._events: deque[Event] = deque()
        self._closed = threading.Event()
        self._connection: Optional[http.client.HTTPConnection] = None
        self._response: Optional[http.client.HTTPResponse] = None
        # Kept apart: http.client lets go of the socket when the answer says 'Connection: close'.
        self._sock: Optional[socket.socket] = None
        self._parser = _Parser()
        self._ended = False

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        while True:
            while self._events:
                event = self._events.popleft()
                if event.kind == "end":
                    self._ended = True
                    self._hang_up()
                    return event._replace(seq=max(event.seq, self.last_seq or 0))
                if event.seq <= (self.last_seq if self.last_seq is not None else -1):
                    continue
                self.last_seq = event.seq
                if event.kind:
                    return event
            if self._ended or self._closed.is_set():
                self._hang_up()
                raise StopIteration
            self._events.extend(self._read())

    def close(self) -> None:
        """End the stream. Safe from any thread, and more than once."""
        self._closed.set()
        sock = self._sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)  # wakes a reader that waits; the reader then closes
            except OSError:
                pass

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._hang_up()

    def __del__(self) -> None:
        self._closed.set()
        self._hang_up()

    def _read(self) -> list[Event]:
        """What has arrived; connects first where there is no connection. Empty when closed or lost."""
        if self._response is None:
            self._open()
        if self._response is None or self._closed.is_set():
            return []
        try:
            chunk = self._response.read1(65536)
        except _LOST:
            chunk = b""
        if not chunk:
            self._hang_up()
            self._closed.wait(FIRST_PAUSE_S)
            return []
        return self._parser.feed(chunk)

    def _open(self) -> None:
        pause_s = FIRST_PAUSE_S
        give_up = time.monotonic() + GIVE_UP_S
        while not self._closed.is_set():
            try:
                self._ask()
                return
            except KeeperUnavailableError:
                self._hang_up()
                if time.monotonic() > give_up or not self._has_read():
                    raise
            except RookeryError:
                self._hang_up()
                raise
            except _LOST as error:
                self._hang_up()
                if time.monotonic() > give_up:
                    raise KeeperUnavailableError(f"The keeper's events cannot be reached: {error}") from error
            self._closed.wait(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 2)

    def _has_read(self) -> bool:
        """Whether it ever worked: what fails at the first try is better told than waited for."""
        return self._parser.was_fed

    def _ask(self) -> None:
        connection = self._connect()
        self._connection = connection
        if connection.sock is None:
            connection.connect()
        connection.sock.settimeout(SILENCE_S)
        self._sock = connection.sock
        if self._closed.is_set():
            return
        connection.request("GET", self._target(self.last_seq), headers=self._headers)
        response = connection.getresponse()
        if response.status >= 400:
            self._check(response, response.read())
        self._parser.forget()
        self._response = response

    def _hang_up(self) -> None:
        response, self._response = getattr(self, "_response", None), None
        connection, self._connection = getattr(self, "_connection", None), None
        self._sock = None
        for thing in (response, connection):
            if thing is not None:
                try:
                    thing.close()
                except _LOST:
                    pass


class _Parser:
    """Bytes in, events out. An event that is not complete yet waits for the rest of it."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, list[str]] = {}
        self.was_fed = False

    def forget(self) -> None:
        """Drop what is incomplete: a new connection begins with a whole event."""
        self._rest, self._fields = b"", {}
        self.was_fed = True

    def feed(self, chunk: bytes) -> list[Event]:
        events = []
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        for raw in lines:
            line = raw.rstrip(b"\r").decode("utf-8", "replace")
            if line == "":
                event = self._finish()
                if event is not None:
                    events.append(event)
            elif not line.startswith(":"):
                name, _, value = line.partition(":")
                self._fields.setdefault(name, []).append(value[1:] if value.startswith(" ") else value)
        return events

    def _finish(self) -> Optional[Event]:
        fields, self._fields = self._fields, {}
        kind = fields.get("event", ["message"])[-1]
        if "data" not in fields and kind != "end":
            # A bare `id:` says where the stream begins, for a reader that asked for "from now on".
            return Event("", int(fields["id"][-1]), None) if "id" in fields else None
        text = "\n".join(fields.get("data", []))
        return Event(kind, int(fields.get("id", ["0"])[-1] or 0), json.loads(text) if text else {})
