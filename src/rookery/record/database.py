"""The way into the database: one writer at a time, readers beside it, bells rung after the commit."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from sqlalchemy import Connection, event

from rookery.record.bell import Bell
from rookery.record.memory import Memory
from rookery.record.sqlite import open_sqlite
from rookery.record.storage import storage_errors
from rookery.record.unstorable import refuse_unstorable

__all__ = ["Database", "Tx", "WriterBusy", "plain_url"]


class WriterBusy(Exception):
    """Another thread writes, and one did not want to wait for it."""


class Tx:
    """One write transaction: the connection, what the writer remembers, and what to ring once it is committed."""

    def __init__(self, conn: Connection, memory: Memory) -> None:
        self.conn = conn
        self.memory = memory
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
        self._memory = Memory()
        with storage_errors(self.where):
            if self.is_sqlite:
                self._reads, self._writes = open_sqlite(self.path)
                self._begin_anew_with_connections()
                refuse_unstorable(self._reads, self._writes)
                return
            # Not for a workspace on SQLite: its keeper starts sooner without.
            from rookery.record.postgres import open_postgres, own_writes

            self._reads, self._writes = open_postgres(url)
            if exclusive:
                own_writes(self._writes, self.where)
            self._begin_anew_with_connections()
            refuse_unstorable(self._reads, self._writes)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection whose queries all see the same moment."""
        with storage_errors(self.where), self._reads.begin() as conn:
            yield conn

    @contextlib.contextmanager
    def write(self, wait: bool = True) -> Iterator[Tx]:
        """A transaction that is committed when the block ends well, rolled back when it raises. Not to be nested.

        Raises:
            WriterBusy: `wait` is false, and somebody else writes; the block was not entered.
        """
        if not self._lock.acquire(blocking=wait):
            raise WriterBusy
        try:
            try:
                with storage_errors(self.where), self._writes.begin() as conn:
                    tx = Tx(conn, self._memory)
                    yield tx
            except BaseException:
                self._memory.forget_all()
                raise
            self._memory.trim()
        finally:
            self._lock.release()
        self.bell.ring_all(tx.rings)

    def _begin_anew_with_connections(self) -> None:
        event.listen(self._writes, "connect", lambda _connection, _record: self._memory.forget_all())

    def close(self) -> None:
        self._reads.dispose()
        self._writes.dispose()


def plain_url(url: str) -> str:
    """The URL as it may be shown: without a password."""
    head, at, tail = url.rpartition("@")
    scheme, _, user = head.partition("://")
    return f"{scheme}://{user.partition(':')[0]}@{tail}" if at else url
