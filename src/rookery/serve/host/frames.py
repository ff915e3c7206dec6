"""Messages between a front and a scoring process, over a unix socket. The front has the same table in `front/link.py`.

A message is `number, kind, length of head, length of body` (big endian), the head as JSON, the body as bytes.
"""

import json
import select
import struct

__all__ = ["ANSWER", "FAILED", "READY", "SCORE", "STOP", "Link", "pack"]

HEAD = struct.Struct("!IBII")
SCORE, ANSWER, READY, FAILED, STOP = 1, 2, 3, 4, 5
ROOM, KEPT = 256 * 1024, 4 * 1024 * 1024  # bytes to read into at first; at most, while there is nothing to read
_to_json = json.JSONEncoder(separators=(",", ":")).encode  # json.dumps would make one every time


def pack(number, kind, head, body=b""):
    text = _to_json(head).encode("utf-8")
    return HEAD.pack(number, kind, len(text), len(body)) + text + body


class Link(object):
    """One connection to a front. `read` gives whole messages, in order."""

    def __init__(self, sock):
        self.sock = sock
        sock.setblocking(False)
        # Used again and again: to get new memory for every message takes longer than to read it.
        self._room = memoryview(bytearray(ROOM))
        self._start = self._end = 0  # of what has been read and not taken
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
        start, have = self._start, self._end - self._start
        if have < HEAD.size:
            return None
        number, kind, nhead, nbody = HEAD.unpack_from(self._room, start)
        size = HEAD.size + nhead + nbody
        if have < size:
            self._make_room(size)
            return None
        split = start + HEAD.size + nhead
        head, body = bytes(self._room[start + HEAD.size : split]), bytes(self._room[split : start + size])
        self._start += size
        if self._start == self._end:
            self._start = self._end = 0
            if len(self._room) > KEPT:
                self._room = memoryview(bytearray(ROOM))
        return number, kind, json.loads(head.decode("utf-8")) if head else {}, body

    def _make_room(self, size):
        """For a message of that size, the beginning of which is there."""
        if self._start + size <= len(self._room):
            return
        unread = bytes(self._room[self._start : self._end])
        if size > len(self._room):
            self._room = memoryview(bytearray(size))
        self._room[: len(unread)] = unread
        self._start, self._end = 0, len(unread)

    def _receive(self):
        if self._end == len(self._room):
            self._make_room(self._end - self._start + HEAD.size)
        try:
            count = self.sock.recv_into(self._room[self._end :])
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            count = 0
        if not count:
            raise EOFError("the front has closed the connection")
        self._end += count

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
