"""Everything that is true of SQLite only: pragmas, and who begins a transaction how."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine, event

__all__ = ["open_sqlite"]

BUSY_TIMEOUT_MS = 10_000
CACHE_KB = 4000  # of each connection; the system keeps the file in memory as well, so more is hardly quicker


def open_sqlite(path: str) -> tuple[Engine, Engine]:
    """(reads, writes) on one file. Reads see a snapshot and never wait; writes take the lock at BEGIN, not at
    the first change.
    """
    url = "sqlite+pysqlite:///" + path
    # The one that was used last is taken first: each keeps pages in memory, so the fewer are in use the better.
    reads = create_engine(url, pool_size=4, max_overflow=60, pool_use_lifo=True)
    writes = create_engine(url, pool_size=1, max_overflow=0)
    for engine, begin in ((reads, "BEGIN"), (writes, "BEGIN IMMEDIATE")):
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _begin_with(begin))
    return reads, writes


def _on_connect(connection: Any, _record: Any) -> None:
    # The driver's own idea of transactions is switched off: it would begin them late and commit before DDL.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        "temp_store=MEMORY",
        f"cache_size=-{CACHE_KB}",
    ):
        cursor.execute("PRAGMA " + pragma)
    cursor.close()


def _begin_with(statement: str) -> Any:
    def begin(connection: Any) -> None:
        connection.exec_driver_sql(statement)

    return begin
