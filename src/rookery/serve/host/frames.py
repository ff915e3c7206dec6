"""Messages between a front and a scoring process, over a unix socket. The front has the same table in `front/link.py`.

A message is `number, kind, length of head, length of body` (big endian), the head as JSON, the body as bytes.
"""

import json
import select
import struct

__all__ = ["ANSWER", "FAILED", "READY", "SCORE", "STOP", "Link", "pack"]

HEAD = struct.Struct("!IBII")
SCORE, ANSWER, READY, FAILED, STOP = 1, 2, 3, 4, 5
CHUNK = 1024 * 1024


def pack(number, kind, head, body=b""):
    text = json.dumps(head, separators=(",", ":")).encode("utf-8")
    return HEAD.pack(number, kind, len(text), len(body)) + text + body


class Link(object):
    """One connection to a front. `read` gives whole messages, in order."""

    def __init__(self, sock):
        self.sock = sock
        sock.setblocking(False)
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def fileno(self):
        return self.sock.fileno()

    def read(self, timeout_s):
        """The next message as (number, kind, head, body); None: none within that time. EOFError: the front is gone."""
        while True:
            message = self._take()
            if message is not None:
                return message
            if not self._poll.poll(max(0, int(timeout_s * 1000 + 0.999))):
                return None
            self._receive()

    def _take(self):
        have = len(self._buffer)
        if have < HEAD.size:
            return None
        number, kind, nhead, nbody = HEAD.unpack_from(self._buffer)
        end = HEAD.size + nhead + nbody
        if have < end:
            return None
        view = memoryview(self._buffer)
        head = bytes(view[HEAD.size : HEAD.size + nhead])
        body = bytes(view[HEAD.size + nhead : end])
        view.release()
        del self._buffer[:end]
        return number, kind, json.loads(head.decode("utf-8")) if head else {}, body

    def _receive(self):
        try:
            data = self.sock.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            raise EOFError("the front has closed the connection")
        self._buffer += data

    def send(self, message):
        """All of it. EOFError: the front is gone."""
        view = memoryview(message)
        while len(view):
            try:
                view = view[self.sock.send(view) :]
            except (BlockingIOError, InterruptedError):
                writable = select.poll()
                writable.register(self.sock, select.POLLOUT)
                writable.poll(60000)
            except OSError:
                raise EOFError("the front has closed the connection")

    def close(self):
        self.sock.close()
