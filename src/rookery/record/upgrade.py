"""Brings a database to this version's schema.

A new database is created from `schema.py` and stamped; only one of an older revision needs Alembic, whose import costs
more than the rest of the keeper's start. That both ways give the same tables is a test.
"""

from __future__ import annotations

import os
from typing import Any, Optional

from sqlalchemy import Connection, inspect, text

from rookery.errors import VersionMismatchError
from rookery.record.database import Database
from rookery.record.schema import SCHEMA_REVISION, metadata
from rookery.record.schema_data import run_data as _run_data  # noqa: F401  (its tables are part of the metadata)
from rookery.record.schema_people import users as _users  # noqa: F401  (its tables are part of the metadata)
from rookery.record.schema_pipeline import pipeline_steps as _steps  # noqa: F401  (its tables are part of the metadata)
from rookery.record.schema_serve import endpoints as _endpoints  # noqa: F401  (its tables are part of the metadata)
from rookery.record.schema_tracking import traces as _traces  # noqa: F401  (its tables are part of the metadata)
from rookery.record.schema_tune import trials as _trials  # noqa: F401  (its tables are part of the metadata)

__all__ = ["alembic_config", "create", "migrate", "revision_of", "settle", "upgrade"]

VERSION_TABLE = "alembic_version"


def upgrade(database: Database, backups: str = "") -> str:
    """Creates, migrates or leaves alone; what is migrated is backed up into the folder `backups` first, where one is given.
    Returns the backup's path, or nothing.

    Raises:
        VersionMismatchError: the database was written by a newer Rookery.
    """
    with database.read() as conn:
        found = revision_of(conn)
    if found == SCHEMA_REVISION:
        return ""
    if found is not None and found > SCHEMA_REVISION:
        raise VersionMismatchError(
            f"The record {database.where} has schema {found}; this Rookery knows up to {SCHEMA_REVISION}. "
            "It was used by a newer version: upgrade with `pip install -U rookery`.",
            details={"found": found, "known": SCHEMA_REVISION},
        )
    kept = ""
    if found is not None and backups:
        from rookery.record.backup import back_up

        kept = back_up(database, backups)
    with database.write() as tx:
        if found is None:
            create(tx.conn)
        else:
            migrate(tx.conn)
        settle(tx.conn)
    return kept


def create(conn: Connection) -> None:
    """The tables of this version, empty."""
    metadata.create_all(conn, checkfirst=False)
    conn.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    conn.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:revision)"), {"revision": SCHEMA_REVISION})


def settle(conn: Connection) -> None:
    """What tables need besides their columns, on the database at hand."""
    if conn.dialect.name == "postgresql":
        from rookery.record.postgres import settle_collations

        settle_collations(conn)


def migrate(conn: Connection, revision: str = "head") -> None:
    """Runs the migrations on this connection, inside its transaction."""
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = conn
    command.upgrade(config, revision)


def alembic_config() -> Any:
    """The configuration that alembic.ini would hold."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", os.path.join(os.path.dirname(__file__), "migrations").replace("%", "%%"))
    return config


def revision_of(conn: Connection) -> Optional[str]:
    if not inspect(conn).has_table(VERSION_TABLE):
        return None
    return conn.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
