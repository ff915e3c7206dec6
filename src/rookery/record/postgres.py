"""Everything that is true of PostgreSQL only: connections, the lock of the one writer, collations, counters."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from rookery.errors import ConfigError, WorkspaceBusyError
from rookery.record.schema import metadata

__all__ = ["open_postgres", "own_writes", "read_counters", "set_counters", "settle_collations"]

CONNECT_TIMEOUT_S = 10
LOCK_WAIT_S = 5.0
# A number that no other program is likely to lock in the same database: "rookery" in ASCII.
LOCK_KEY = int.from_bytes(b"rookery", "big")

_CONNECT = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


def open_postgres(url: str) -> tuple[Engine, Engine]:
    """(reads, writes) on one database. Reads see one moment and may change nothing; writes are one at a time.

    Raises:
        ConfigError: the URL is none, or the driver is missing.
    """
    try:
        parsed = make_url(url)
        if parsed.drivername in ("postgres", "postgresql"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        options: dict[str, Any] = {"pool_pre_ping": True, "connect_args": dict(_CONNECT)}
        reads = create_engine(parsed, pool_size=4, max_overflow=28, **options)
        writes = create_engine(parsed, pool_size=1, max_overflow=0, **options)
    except (ArgumentError, ValueError) as error:
        raise ConfigError(
            "The database's URL cannot be read. It has the form postgresql://user:password@host:5432/name, or "
            "sqlite:////a/path.db."
        ) from error
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The driver for {url.partition(':')[0]} is not installed ({error.name}). For PostgreSQL: "
            "`pip install 'rookery[postgres]'`."
        ) from error
    return reads.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True), writes


def own_writes(writes: Engine, where: str) -> None:
    """Lets every connection of `writes` begin with the database's lock: two keepers on one database would number events
    and runs against each other. It goes with the connection, and comes back with the next one."""

    def on_connect(connection: Any, _record: Any) -> None:
        deadline = time.monotonic() + LOCK_WAIT_S  # the server notices late that a killed keeper's connection is gone
        while True:
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT pg_try_advisory_lock({LOCK_KEY})")
                taken = cursor.fetchone()[0]
            connection.commit()
            if taken:
                return
            if time.monotonic() > deadline:
                connection.close()
                raise WorkspaceBusyError(
                    f"Another keeper uses the database {where}. One database belongs to one workspace: stop that "
                    "keeper, or give this one a database of its own."
                )
            time.sleep(0.05)

    event.listen(writes, "connect", on_connect)


def settle_collations(conn: Connection) -> None:
    """Makes every text sort and compare by its bytes, as SQLite does it, whatever the database's own language is."""
    query = text(
        "SELECT table_name, column_name, character_maximum_length FROM information_schema.columns "
        "WHERE table_schema = current_schema() AND data_type IN ('character varying', 'text') "
        "AND collation_name IS DISTINCT FROM 'C' ORDER BY table_name, ordinal_position"
    )
    changes: dict[str, list[str]] = {}
    for table, column, length in conn.execute(query):
        if table in metadata.tables:
            kind = "TEXT" if length is None else f"VARCHAR({length})"
            changes.setdefault(table, []).append(f'ALTER COLUMN "{column}" TYPE {kind} COLLATE "C"')
    for table, clauses in changes.items():
        conn.execute(text(f'ALTER TABLE "{table}" {", ".join(clauses)}'))


def set_counters(conn: Connection, counters: dict[str, int]) -> None:
    """Lets the numbers of new rows go on after these: {table: last number given}."""
    for table, column in serial_columns(conn).items():
        largest = conn.execute(text(f'SELECT max("{column}") FROM "{table}"')).scalar() or 0
        last = max(largest, counters.get(table, 0))
        if last:
            conn.execute(
                text("SELECT setval(pg_get_serial_sequence(:table, :column), :last)"),
                {"table": f'"{table}"', "column": column, "last": last},
            )


def read_counters(conn: Connection) -> dict[str, int]:
    """{table: last number given}."""
    found = {}
    for table, column in serial_columns(conn).items():
        name = conn.execute(
            text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": f'"{table}"', "column": column}
        ).scalar()
        row = conn.execute(text(f"SELECT last_value, is_called FROM {name}")).one()
        found[table] = int(row.last_value) if row.is_called else 0
    return found


def serial_columns(conn: Connection) -> dict[str, str]:
    """{table: the column that counts up by itself}."""
    rows = conn.execute(
        text(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'"
        )
    )
    return {table: column for table, column in rows if table in metadata.tables}
