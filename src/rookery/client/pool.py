"""Connections that wait for the next request. Without locks, so that a fork in the middle of anything does no
harm."""

from __future__ import annotations

import http.client
import os
import select
from collections import deque
from typing import Optional

__all__ = ["ConnectionPool"]

MAX_IDLE = 16


class ConnectionPool:
    """Idle connections of this process. After a fork the child begins with none: the parent's are not its to
    use."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._idle: deque[http.client.HTTPConnection] = deque()

    def take(self) -> Optional[http.client.HTTPConnection]:
        """One that the other side has not closed meanwhile, or None."""
        self._notice_fork()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if not _is_closed_by_peer(connection):
                return connection
            connection.close()

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        """Keep it for the next request; its last answer must have been read to the end."""
        self._notice_fork()
        if connection.sock is None or len(self._idle) >= MAX_IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def clear(self) -> None:
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def _notice_fork(self) -> None:
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self.clear()  # closes the child's copies of the descriptors only


def _is_closed_by_peer(connection: http.client.HTTPConnection) -> bool:
    """An idle connection that can be read from holds an end of file (or something we did not ask for)."""
    sock = connection.sock
    if sock is None:
        return True
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
