"""The way into the database: one writer at a time, readers beside it, bells rung after the commit."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from sqlalchemy import Connection

from rookery.record.bell import Bell
from rookery.record.sqlite import open_sqlite
from rookery.record.storage import storage_errors

__all__ = ["Database", "Tx", "plain_url"]


class Tx:
    """One write transaction: the connection, and what to ring once it is committed."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.rings: dict[str, None] = {}  # ordered, each once

    def ring(self, key: str) -> None:
        self.rings[key] = None


class Database:
    """Reads on their own connections; writes behind one lock, so that there is never a `database is locked`.

    `url` empty means the SQLite file at `path`. On PostgreSQL the lock is also one in the database, because another
    machine could have a keeper on it; `exclusive` false goes without, for tools that only read.
    """

    def __init__(self, path: str, bell: Bell, url: str = "", exclusive: bool = True) -> None:
        self.bell = bell
        self.is_sqlite = not url or url.startswith("sqlite")
        self.path = (url.partition("///")[2] if url else path) if self.is_sqlite else ""
        self.where = self.path if self.is_sqlite else plain_url(url)
        self._lock = threading.Lock()
        with storage_errors(self.where):
            if self.is_sqlite:
                self._reads, self._writes = open_sqlite(self.path)
                return
            # Not for a workspace on SQLite: its keeper starts sooner without.
            from rookery.record.postgres import open_postgres, own_writes

            self._reads, self._writes = open_postgres(url)
            if exclusive:
                own_writes(self._writes, self.where)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection whose queries all see the same moment."""
        with storage_errors(self.where), self._reads.begin() as conn:
            yield conn

    @contextlib.contextmanager
    def write(self) -> Iterator[Tx]:
        """A transaction that is committed when the block ends well, rolled back when it raises. Not to be nested."""
        with self._lock, storage_errors(self.where), self._writes.begin() as conn:
            tx = Tx(conn)
            yield tx
        self.bell.ring_all(tx.rings)

    def close(self) -> None:
        self._reads.dispose()
        self._writes.dispose()


def plain_url(url: str) -> str:
    """The URL as it may be shown: without a password."""
    head, at, tail = url.rpartition("@")
    scheme, _, user = head.partition("://")
    return f"{scheme}://{user.partition(':')[0]}@{tail}" if at else url
