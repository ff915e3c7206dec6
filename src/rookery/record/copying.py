"""A whole record from one database into another: every table, row by row, counted and compared. All of it, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from sqlalchemy import Connection, inspect, text

from rookery.errors import ConflictError, NotFoundError, StorageError
from rookery.record.database import Database
from rookery.record.schema import SCHEMA_REVISION, metadata
from rookery.record.upgrade import VERSION_TABLE, create, migrate, revision_of, settle

__all__ = ["TableCopy", "copy_database", "measure_tables"]

BATCH_ROWS = 1000
BATCH_BYTES = 8 * 1024 * 1024
_SUM = 1 << 256


@dataclass(frozen=True)
class TableCopy:
    """One table: the checksum is of its rows whatever their order, and the same on every database."""

    name: str
    rows: int
    checksum: str


def copy_database(
    source: Database, target: Database, on_table: Callable[[TableCopy], None] = lambda done: None
) -> list[TableCopy]:
    """Copies all tables in one transaction of the target; both are read back and compared before it is committed.

    What is written to the source meanwhile is not in the copy, which is of the moment when it began.

    Raises:
        NotFoundError: the source holds no record.
        ConflictError: the target holds something already.
        StorageError: what arrived is not what was sent; the target is left empty.
    """
    with source.read() as reading:
        revision = revision_of(reading)
        if revision is None:
            raise NotFoundError(f"{source.where} holds no record. Give the database of a workspace that was used.")
        with target.write() as tx:
            _prepare(tx.conn, target.where, revision)
            done = []
            for name in _tables(reading):
                copied = _copy_table(reading, tx.conn, name)
                arrived = _measure(tx.conn, name)
                if copied != arrived:
                    raise StorageError(
                        f"Table {name}: {copied.rows} rows ({copied.checksum[:16]}) were sent, {arrived.rows} "
                        f"({arrived.checksum[:16]}) arrived in {target.where}. Nothing was kept; try again."
                    )
                done.append(copied)
                on_table(copied)
            _set_counters(tx.conn, _counters(reading))
    return done


def measure_tables(database: Database) -> list[TableCopy]:
    """Rows and checksum of every table, as `copy_database` compares them."""
    with database.read() as conn:
        return [_measure(conn, name) for name in _tables(conn)]


def _prepare(conn: Connection, where: str, revision: str) -> None:
    """The tables of that revision, without rows."""
    there = inspect(conn).get_table_names()
    found = revision_of(conn) if VERSION_TABLE in there else None
    filled = [name for name in there if name != VERSION_TABLE and _has_rows(conn, name)]
    if filled or (there and found != revision):
        what = f"table {filled[0]} has rows" if filled else f"it has tables of schema {found or 'unknown'}"
        raise ConflictError(f"{where} is not empty ({what}). Copy into a new database; nothing was changed.")
    if not there:
        if revision == SCHEMA_REVISION:
            create(conn)
        else:
            migrate(conn, revision)
        settle(conn)
    if conn.dialect.name == "sqlite":
        conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")


def _has_rows(conn: Connection, table: str) -> bool:
    return conn.execute(text(f'SELECT 1 FROM "{table}" LIMIT 1')).first() is not None


def _tables(conn: Connection) -> list[str]:
    """Those of ours that are there, what others refer to first."""
    there = set(inspect(conn).get_table_names())
    return [table.name for table in metadata.sorted_tables if table.name in there]


def _copy_table(source: Connection, target: Connection, name: str) -> TableCopy:
    columns = _columns(source, name)
    quoted = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join(f":p{n}" for n in range(len(columns)))
    statement = text(f'INSERT INTO "{name}" ({quoted}) VALUES ({places})')
    checksum = _Checksum()
    for batch in _batches(_rows(source, name, columns)):
        for row in batch:
            checksum.add(row)
        target.execute(statement, [{f"p{n}": value for n, value in enumerate(row)} for row in batch])
    return checksum.of(name)


def _measure(conn: Connection, name: str) -> TableCopy:
    checksum = _Checksum()
    for row in _rows(conn, name, _columns(conn, name)):
        checksum.add(row)
    return checksum.of(name)


def _columns(conn: Connection, name: str) -> list[str]:
    """By name: a column that a migration added has another place than in a new table."""
    return sorted(column["name"] for column in inspect(conn).get_columns(name))


def _rows(conn: Connection, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    quoted = ", ".join(f'"{column}"' for column in columns)
    # By key: a run comes after its parent, which has the smaller number.
    keys = ", ".join(f'"{column.name}"' for column in metadata.tables[name].primary_key.columns)
    query = text(f'SELECT {quoted} FROM "{name}" ORDER BY {keys}')
    found = conn.execute(query, execution_options={"stream_results": True, "yield_per": 200})
    for row in found:
        yield tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Checksum:
    """A sum of the rows' hashes: the order in which a database returns them does not count."""

    def __init__(self) -> None:
        self._rows = self._sum = 0

    def add(self, row: tuple[Any, ...]) -> None:
        digest = hashlib.sha256(repr(row).encode("utf-8", "surrogatepass")).digest()
        self._sum = (self._sum + int.from_bytes(digest, "big")) % _SUM
        self._rows += 1

    def of(self, name: str) -> TableCopy:
        return TableCopy(name, self._rows, f"{self._sum:064x}")


def _counters(conn: Connection) -> dict[str, int]:
    """{table: the last number that it gave}: numbers of rows that are gone are not given again."""
    if conn.dialect.name == "postgresql":
        from rookery.record.postgres import read_counters

        return read_counters(conn)
    return {row.name: row.seq for row in conn.execute(text("SELECT name, seq FROM sqlite_sequence"))}


def _set_counters(conn: Connection, counters: dict[str, int]) -> None:
    if conn.dialect.name == "postgresql":
        from rookery.record.postgres import set_counters

        set_counters(conn, counters)
        return
    counted = {table.name for table in metadata.tables.values() if table.kwargs.get("sqlite_autoincrement")}
    for name in counted & set(counters) & set(_tables(conn)):
        found: Optional[int] = conn.execute(
            text("SELECT seq FROM sqlite_sequence WHERE name = :n"), {"n": name}
        ).scalar()
        if found is None:
            conn.execute(
                text("INSERT INTO sqlite_sequence (name, seq) VALUES (:n, :s)"), {"n": name, "s": counters[name]}
            )
        elif counters[name] > found:
            conn.execute(text("UPDATE sqlite_sequence SET seq = :s WHERE name = :n"), {"n": name, "s": counters[name]})
