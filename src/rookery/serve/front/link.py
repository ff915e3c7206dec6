"""The front's end of the socket to one scoring process. `host/frames.py` has the other end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Callable
from typing import Any, Optional, Union

from rookery.serve.front.wire import RECEIVED

__all__ = ["ANSWER", "FAILED", "READY", "SCORE", "STOP", "HostLink"]

HEAD = struct.Struct("!IBII")
SCORE, ANSWER, READY, FAILED, STOP = 1, 2, 3, 4, 5


class HostLink(asyncio.BufferedProtocol):
    """Args: on_message: (number, kind, head, body). on_lost: the other end is gone, or we hung up."""

    def __init__(
        self, on_message: Callable[[int, int, dict[str, Any], bytes], None], on_lost: Callable[[HostLink], None]
    ) -> None:
        self._on_message, self._on_lost = on_message, on_lost
        self._transport: Any = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._buffer = bytearray()

    async def connect(self, path: str) -> None:
        """Raises: OSError: nobody is there."""
        loop = asyncio.get_running_loop()
        try:
            self._socket.setblocking(False)
            # As much as the machine allows: a picture then goes over in one piece, and wakes the other side once.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * 1024 * 1024)
            await loop.sock_connect(self._socket, path)
            await loop.create_unix_connection(lambda: self, sock=self._socket)
        except BaseException:
            self._socket.close()
            raise

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=256 * 1024 * 1024)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._transport = None
        self._on_lost(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return RECEIVED

    def buffer_updated(self, nbytes: int) -> None:
        buffer = self._buffer
        buffer += RECEIVED[:nbytes]
        while len(buffer) >= HEAD.size:
            number, kind, nhead, nbody = HEAD.unpack_from(buffer)
            end = HEAD.size + nhead + nbody
            if len(buffer) < end:
                return
            with memoryview(buffer) as view:
                head = json.loads(bytes(view[HEAD.size : HEAD.size + nhead])) if nhead else {}
                body = bytes(view[HEAD.size + nhead : end])
            del buffer[:end]
            self._on_message(number, kind, head, body)

    def send(self, number: int, kind: int, head: bytes, body: Union[bytes, bytearray] = b"") -> bool:
        """False: nobody is there."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        first, sent = HEAD.pack(number, kind, len(head), len(body)) + head, 0
        if not transport.get_write_buffer_size():  # nothing waits that would have to go before it
            # Both in one call: of a head that comes for itself the other side would wake twice.
            try:
                with contextlib.suppress(BlockingIOError, InterruptedError):
                    sent = self._socket.sendmsg([first, body])
            except OSError:
                transport.abort()
                return False
        if sent < len(first):
            transport.write(first[sent:])
        if sent < len(first) + len(body):
            transport.write(memoryview(body)[max(0, sent - len(first)) :])
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
