"""Databases as older versions left them: at any revision of the schema, with rows in every table."""

from __future__ import annotations

import json
import struct
from typing import Any

from alembic.script import ScriptDirectory
from sqlalchemy import BigInteger, Connection, Double, Integer, LargeBinary, Table, inspect, text

from rookery.record.database import Database
from rookery.record.schema import JsonText, metadata
from rookery.record.upgrade import alembic_config, migrate, settle

__all__ = ["all_rows", "fill_tables", "make_old_record", "revisions"]

ROWS = 3
MOMENT = "2026-11-15T20:00:00.{:06d}Z"


def revisions() -> list[str]:
    """Every revision of the schema so far, oldest first."""
    found = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()]
    return sorted(found)


def make_old_record(database: Database, revision: str) -> dict[str, list[dict[str, Any]]]:
    """Makes the tables of that revision and fills them; returns what they hold."""
    with database.write() as tx:
        migrate(tx.conn, revision)
        settle(tx.conn)
        fill_tables(tx.conn)
        return all_rows(tx.conn)


def fill_tables(conn: Connection) -> None:
    """A few rows in every table that is there, referring to each other, with awkward texts and numbers."""
    there = set(inspect(conn).get_table_names())
    for table in metadata.sorted_tables:
        if table.name not in there:
            continue
        columns = [c["name"] for c in inspect(conn).get_columns(table.name)]
        names = ", ".join(f'"{c}"' for c in columns)
        places = ", ".join(f":{c}" for c in columns)
        rows = [{c: _value(table, c, n) for c in columns} for n in range(1, ROWS + 1)]
        conn.execute(text(f'INSERT INTO "{table.name}" ({names}) VALUES ({places})'), rows)
    if conn.dialect.name == "postgresql":
        from rookery.record.postgres import set_counters

        set_counters(conn, {})


def all_rows(conn: Connection) -> dict[str, list[dict[str, Any]]]:
    """{table: its rows, as they are stored, by key}."""
    found = {}
    for table in metadata.sorted_tables:
        if table.name in inspect(conn).get_table_names():
            keys = ", ".join(f'"{c.name}"' for c in table.primary_key.columns)
            rows = conn.execute(text(f'SELECT * FROM "{table.name}" ORDER BY {keys}')).mappings()
            found[table.name] = [dict(row) for row in rows]
    return found


def _value(table: Table, name: str, n: int) -> Any:
    column = table.c.get(name)
    if column is None:
        return None  # of a column that a later revision has taken away
    for key in column.foreign_keys:
        if key.column.table is table:
            return None if n == 1 else _value(table, key.column.name, n - 1)  # a child of the row before
        return _value(key.column.table, key.column.name, n)
    if isinstance(column.type, JsonText):
        return _json(table.name, name, n)
    if isinstance(column.type, LargeBinary):
        return struct.pack("<3d" if name != "steps" else "<3q", n, n + 1, n + 2)
    if isinstance(column.type, (Integer, BigInteger)):
        large = isinstance(column.type, BigInteger) and not column.primary_key
        return 2**40 + n if large and name not in ("size", "total") else n
    if isinstance(column.type, Double):
        return n + 0.1
    return _text(table, name, n)


def _text(table: Table, name: str, n: int) -> str:
    if name.endswith("_utc"):
        return MOMENT.format(n)
    if name == "kind" and table.name == "metrics":
        return "scalar"
    if name in ("tail_dtype", "dtype"):
        return "d"
    limit = getattr(table.c[name].type, "length", None) or 60
    return f"{n}-Zürich 'Ä' % \\ \"x\" {table.name}.{name}"[:limit]


def _json(table: str, name: str, n: int) -> str:
    if name in ("warnings", "phases"):
        return json.dumps([f"w{n}"])
    if table == "metrics" and name == "last":
        return "NaN" if n == 2 else str(n + 0.5)
    return json.dumps({"n": n, "nan": float("nan"), "large": 2**70, "text": "a\u0000b\ud83d\ude00"})
