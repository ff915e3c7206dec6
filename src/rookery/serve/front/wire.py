"""HTTP/1.1 as far as scoring needs it: a connection's bytes in, whole requests out; answers as bytes.

Written by hand because a request is to cost tens of microseconds here, and nothing is to be installed for it.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Optional, Union

__all__ = ["RECEIVED", "Connection", "Request", "refusal", "write_parts"]

MAX_HEAD = 64 * 1024
JOINED = 256 * 1024  # a body of this size is copied sooner than sent for itself
STRAIGHT = 4 * 1024 * 1024  # the largest body that the socket is read straight into
SHARE = 16  # once this part of it is there: memory is not given for a mere Content-Length
MAX_CONNECTIONS = 4000
LINGER_S = 5.0  # for a client that was refused to read why, and to stop sending
# Where all sockets of this process are read into: what is in it is taken out before the next one is read. asyncio's own way asks the
# system for a quarter of a megabyte at every read, and gives it back.
RECEIVED = memoryview(bytearray(256 * 1024))
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z").match
_METHODS = (b"GET", b"POST", b"OPTIONS", b"HEAD", b"PUT", b"DELETE", b"PATCH")
_WORDS = {status.value: status.phrase for status in HTTPStatus}


class Request:
    """One request, whole. Header names are in lower case."""

    __slots__ = ("arrived", "body", "connection", "headers", "method", "path", "query", "sent", "tries", "version")

    def __init__(self, connection: Connection, method: str, path: str, query: str, headers: dict[str, str]) -> None:
        self.connection, self.method, self.path, self.query, self.headers = connection, method, path, query, headers
        self.body: Union[bytes, bytearray] = b""
        self.arrived = self.sent = 0.0
        self.tries = 0
        self.version = ""

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes, content_type: str) -> None:
        """To be called once. Nobody is there any more: nothing happens."""
        self.connection.respond(self, status, headers, body, content_type)


class Connection(asyncio.BufferedProtocol):
    """One client. Requests are handled one after the other; what follows on the wire waits in the buffer.

    Args:
        handle: is given whole requests; it calls `answer` on each, now or later.
        limit: of bodies, in bytes.
    """

    def __init__(self, handle: Callable[[Request], None], limit: Callable[[], int], known: set[Connection]) -> None:
        self._handle, self._limit, self._known = handle, limit, known
        self._transport: Any = None
        self._buffer = bytearray()
        self._request: Optional[Request] = None  # whose body is being read
        self._left = 0  # bytes of it that are missing; -1: chunked
        self._body: Optional[bytearray] = None  # of it, where the socket is read straight into it
        self._chunks: list[bytes] = []
        self._size = 0  # of the chunks
        self._busy = False  # a request is being answered
        self._is_refused = False  # what still comes is thrown away
        self._close_after = False
        self.heard = time.monotonic()

    # -- asyncio's side

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        if len(self._known) >= MAX_CONNECTIONS:
            silent = min((one for one in self._known if one.is_idle), key=lambda one: one.heard, default=None)
            (silent or self).close()  # whoever has said nothing for longest makes room
        self._known.add(self)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._known.discard(self)
        self._transport = None

    def get_buffer(self, sizehint: int) -> memoryview:
        return RECEIVED if self._body is None else memoryview(self._body)[-self._left :]

    def buffer_updated(self, nbytes: int) -> None:
        self.heard = time.monotonic()
        if self._is_refused:
            return
        if self._body is not None:
            self._left -= nbytes
            if not self._left:
                self._advance()
            return
        self._buffer += RECEIVED[:nbytes]
        if self._busy:
            if len(self._buffer) > self._limit() + MAX_HEAD and self._transport is not None:
                self._transport.pause_reading()
            return
        self._advance()

    # -- what the front asks

    @property
    def is_idle(self) -> bool:
        return not self._busy

    @property
    def peer(self) -> str:
        name = self._transport.get_extra_info("peername") if self._transport else None
        return str(name[0]) if isinstance(name, tuple) else ""

    def respond(
        self, request: Request, status: int, headers: list[tuple[str, str]], body: bytes, content_type: str
    ) -> None:
        if self._transport is None:
            return
        closes = self._close_after
        if request.method == "HEAD":
            body = b""
        write_parts(self._transport, answer_head(status, headers, len(body), content_type, closes), body)
        self._busy = False
        if closes:
            self._transport.close()
            return
        if self._buffer:
            self._transport.resume_reading()
            # Not from here: a client that sends a thousand requests at once would be a stack a thousand deep.
            asyncio.get_running_loop().call_soon(self._advance)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def refuse(self, status: int, words: str) -> None:
        """What cannot be a request of ours: said, and hung up.

        Not at once: a socket that is closed while bytes are on their way to it resets the connection, and a client that is still
        sending would be told that it is broken, not why it was refused. It hangs up itself, or after a while we do.
        """
        transport = self._transport
        if transport is not None:
            body, content_type = refusal(status, words)
            write_parts(transport, answer_head(status, [], len(body), content_type, True), body)
            self._busy = self._is_refused = True
            self._buffer.clear()
            if transport.can_write_eof():  # not over TLS
                transport.write_eof()
            asyncio.get_running_loop().call_later(LINGER_S, transport.close)

    # -- parsing

    def _advance(self) -> None:
        if self._busy or self._transport is None:
            return
        if self._request is None and not self._read_head():
            return
        if not self._read_body():
            return
        request, self._request = self._request, None
        assert request is not None
        self._busy = True
        request.arrived = time.perf_counter()
        self._handle(request)

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                self.refuse(431, f"The head of the request is longer than {MAX_HEAD} bytes.")
            elif self._buffer and not _may_begin(self._buffer):
                self.refuse(400, "This is not HTTP.")
            return False
        if end > MAX_HEAD:
            self.refuse(431, f"The head of the request is longer than {MAX_HEAD} bytes.")
            return False
        lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        try:
            self._request = self._parse(lines)
        except _Refused as error:
            self.refuse(error.status, error.words)
            return False
        return True

    def _parse(self, lines: list[bytes]) -> Request:
        parts = lines[0].split(b" ")
        if len(parts) != 3 or parts[0] not in _METHODS or parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
            raise _Refused(400, "The first line is no request of HTTP/1.1.")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon or not _TOKEN(name):
                raise _Refused(400, "A line of the head is no header.")
            key = name.decode("ascii").lower()
            if key in headers and key in ("content-length", "transfer-encoding", "authorization", "host"):
                raise _Refused(400, f"The header {key} is there twice.")
            text = value.strip().decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        path, _, query = parts[1].decode("latin-1").partition("?")
        wish = headers.get("connection", "").lower()
        self._close_after = "close" in wish or (parts[2] == b"HTTP/1.0" and "keep-alive" not in wish)
        self._left = self._length(headers)
        if headers.get("expect", "").lower() == "100-continue" and self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return Request(self, parts[0].decode("ascii"), path, query, headers)

    def _length(self, headers: dict[str, str]) -> int:
        encoding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if encoding is not None:
            if length is not None or encoding.lower() != "chunked":
                raise _Refused(400, "Give either Content-Length or `Transfer-Encoding: chunked`.")
            return -1
        if length is None:
            return 0
        if not (length.isascii() and length.isdigit()):
            raise _Refused(400, f"Content-Length {length!r:.40} is no number.")
        if int(length) > self._limit():
            raise _Refused(413, f"The body has {length} bytes; {self._limit()} are allowed (max_body_mb).")
        return int(length)

    def _read_body(self) -> bool:
        request = self._request
        assert request is not None
        if self._left < 0:
            return self._read_chunks(request)
        if self._body is not None:
            if self._left:
                return False
            request.body, self._body = self._body, None
            return True
        if len(self._buffer) < self._left:
            if self._left <= min(STRAIGHT, SHARE * len(self._buffer)):
                self._body = bytearray(self._left)
                self._body[: len(self._buffer)] = self._buffer
                self._left -= len(self._buffer)
                self._buffer.clear()
            return False
        with memoryview(self._buffer) as view:  # a slice of the buffer itself would be copied twice
            request.body = bytes(view[: self._left])
        del self._buffer[: self._left]
        return True

    def _read_chunks(self, request: Request) -> bool:
        """Takes the chunks that are whole; True once the last one is there."""
        buffer = self._buffer
        while True:
            end = buffer.find(b"\r\n", 0, 1024)
            if end < 0:
                if len(buffer) > 1024:
                    self.refuse(400, "A chunk of the body has no length.")
                return False
            length = _chunk_length(bytes(buffer[:end]))
            if length is None:
                self.refuse(400, "The length of a chunk is no hexadecimal number.")
                return False
            if self._size + length > self._limit():
                self.refuse(413, f"The body has more than {self._limit()} bytes, which are allowed (max_body_mb).")
                return False
            if len(buffer) < end + 2 + length + 2:
                return False
            if buffer[end + 2 + length : end + 4 + length] != b"\r\n":
                self.refuse(400, "A chunk is not as long as it says, or headers follow the last one.")
                return False
            self._chunks.append(bytes(buffer[end + 2 : end + 2 + length]))
            self._size += length
            del buffer[: end + 4 + length]
            if length == 0:
                request.body = b"".join(self._chunks)
                self._chunks, self._size = [], 0
                return True


def _chunk_length(line: bytes) -> Optional[int]:
    text = line.partition(b";")[0].strip()
    try:
        return int(text, 16) if text and text.isalnum() else None
    except ValueError:
        return None


class _Refused(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def _may_begin(buffer: bytearray) -> bool:
    """Whether these bytes can still become a request line: a TLS hello or rubbish is answered at once."""
    start = bytes(buffer[:8])
    return any(start.startswith(m + b" ") or (m + b" ").startswith(start) for m in _METHODS)


def refusal(status: int, words: str) -> tuple[bytes, str]:
    """The body of an answer that is not the model's, in the one shape that all errors have."""
    code = {401: "authentication", 404: "not_found", 405: "user_error", 503: "endpoint_busy"}.get(status, "scoring")
    told = {"error": {"code": code, "message": words, "details": {}}}
    return json.dumps(told).encode("utf-8"), "application/json"


def write_parts(transport: Any, head: bytes, body: bytes) -> None:
    """Small ones in one piece; a large body is not copied only to have a head before it."""
    if len(body) <= JOINED:
        transport.write(head + body)
    else:
        transport.write(head)
        transport.write(body)


def answer_head(status: int, headers: list[tuple[str, str]], length: int, content_type: str, closes: bool) -> bytes:
    lines = [f"HTTP/1.1 {status} {_WORDS.get(status, 'Unknown')}\r\nContent-Type: {content_type}\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in headers]
    lines.append(f"Content-Length: {length}\r\n{'Connection: close' if closes else 'Connection: keep-alive'}\r\n\r\n")
    return "".join(lines).encode("latin-1", "replace")
