"""The front's end of the socket to one scoring process. `host/frames.py` has the other end."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from typing import Any, Optional

from rookery.serve.front.wire import write_parts

__all__ = ["ANSWER", "FAILED", "READY", "SCORE", "STOP", "HostLink"]

HEAD = struct.Struct("!IBII")
SCORE, ANSWER, READY, FAILED, STOP = 1, 2, 3, 4, 5


class HostLink(asyncio.Protocol):
    """Args: on_message: (number, kind, head, body). on_lost: the other end is gone, or we hung up."""

    def __init__(
        self, on_message: Callable[[int, int, dict[str, Any], bytes], None], on_lost: Callable[[HostLink], None]
    ) -> None:
        self._on_message, self._on_lost = on_message, on_lost
        self._transport: Any = None
        self._buffer = bytearray()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=256 * 1024 * 1024)
        # As much as the machine allows: a picture then goes over in one piece, and wakes the other side once.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * 1024 * 1024)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._transport = None
        self._on_lost(self)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
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

    def send(self, number: int, kind: int, head: bytes, body: bytes = b"") -> bool:
        """False: nobody is there."""
        if self._transport is None or self._transport.is_closing():
            return False
        write_parts(self._transport, HEAD.pack(number, kind, len(head), len(body)) + head, body)
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
