"""The way into the database: one writer at a time, readers beside it, bells rung after the commit."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from sqlalchemy import Connection, create_engine

from rookery.record.bell import Bell
from rookery.record.sqlite import open_sqlite
from rookery.record.storage import storage_errors

__all__ = ["Database", "Tx"]


class Tx:
    """One write transaction: the connection, and what to ring once it is committed."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.rings: dict[str, None] = {}  # ordered, each once

    def ring(self, key: str) -> None:
        self.rings[key] = None


class Database:
    """Reads on their own connections; writes behind one lock, so that there is never a `database is locked`.

    `url` empty means the SQLite file at `path`.
    """

    def __init__(self, path: str, bell: Bell, url: str = "") -> None:
        self.bell = bell
        self.where = url.split("@")[-1] if url else path
        self._lock = threading.Lock()
        with storage_errors(self.where):
            if url and not url.startswith("sqlite"):
                self._reads = self._writes = create_engine(url, pool_pre_ping=True)
            else:
                self._reads, self._writes = open_sqlite(url.partition("///")[2] if url else path)

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
