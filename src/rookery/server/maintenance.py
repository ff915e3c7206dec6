"""What `rookery db` does to a workspace's record: beside its keeper where it only reads, in its place where it changes."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from typing import Any

from sqlalchemy import text

from rookery.errors import NotFoundError, UserError
from rookery.record.backup import back_up
from rookery.record.bell import Bell
from rookery.record.copying import TableCopy, copy_database, measure_tables
from rookery.record.database import Database
from rookery.record.schema import SCHEMA_REVISION
from rookery.record.upgrade import revision_of, upgrade
from rookery.server.lease import Lease
from rookery.settings import get_setting
from rookery.spec.paths import WorkspacePaths

__all__ = ["backup", "copy", "status", "upgrade_workspace"]


def status(root: str) -> dict[str, Any]:
    """Where the record is, of which schema, how large, and what backups there are."""
    paths = WorkspacePaths(root)
    database = _of_workspace(paths)
    try:
        with database.read() as conn:
            revision = revision_of(conn)
            size = _size(conn, database)
        tables = measure_tables(database) if revision is not None else []
    finally:
        database.close()
    return {
        "database": database.where,
        "kind": "sqlite" if database.is_sqlite else "postgresql",
        "schema": revision,
        "schema_known": SCHEMA_REVISION,
        "size_bytes": size,
        "tables": [{"name": t.name, "rows": t.rows, "checksum": t.checksum} for t in tables],
        "artifacts": get_setting("artifact_root", root) or paths.content,
        "backups": sorted(glob.glob(os.path.join(glob.escape(paths.backups), "*.db"))),
    }


def upgrade_workspace(root: str) -> dict[str, Any]:
    """Brings the record to this version's schema, with a backup before. The keeper must have made way."""
    paths = WorkspacePaths(root)
    with Lease(paths):
        database = _of_workspace(paths, exclusive=True)
        try:
            with database.read() as conn:
                before = revision_of(conn)
            kept = upgrade(database, paths.backups)
        finally:
            database.close()
    return {"database": database.where, "before": before, "after": SCHEMA_REVISION, "backup": kept or None}


def backup(root: str, path: str = "") -> dict[str, Any]:
    """A backup of the record as it is now; the keeper may go on."""
    paths = WorkspacePaths(root)
    database = _of_workspace(paths)
    try:
        made = back_up(database, paths.backups, os.path.abspath(path) if path else "")
    finally:
        database.close()
    return {"database": database.where, "backup": made, "size_bytes": os.path.getsize(made)}


def copy(source: str, target: str, on_table: Callable[[TableCopy], None] = lambda done: None) -> dict[str, Any]:
    """From one database's URL to another's."""
    if source == target:
        raise UserError("The source and the target are the same database.")
    reading = _at(source, must_exist=True)
    try:
        writing = _at(target)
        try:
            done = copy_database(reading, writing, on_table)
        finally:
            writing.close()
    finally:
        reading.close()
    return {
        "source": reading.where,
        "target": writing.where,
        "rows": sum(t.rows for t in done),
        "tables": [{"name": t.name, "rows": t.rows, "checksum": t.checksum} for t in done],
    }


def _of_workspace(paths: WorkspacePaths, exclusive: bool = False) -> Database:
    url = get_setting("database_url", paths.root)
    if not url and not os.path.exists(paths.database):
        raise NotFoundError(
            f"The workspace {paths.root} has no record yet. Its keeper makes one: `rookery keeper start`."
        )
    return Database(paths.database, Bell(), url, exclusive)


def _at(url: str, must_exist: bool = False) -> Database:
    if not url.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://", "postgres://")):
        raise UserError(
            f"{url.partition('://')[0][:40]!r} is no database that holds a record. Give sqlite:///path/to/record.db or "
            "postgresql://user:password@host:5432/name."
        )
    if must_exist and url.startswith("sqlite:///") and not os.path.isfile(url[len("sqlite:///") :]):
        raise NotFoundError(
            f"There is no file {url[len('sqlite:///') :]!r}. An absolute path has four slashes: sqlite:////…."
        )
    return Database("", Bell(), url, exclusive=not must_exist)


def _size(conn: Any, database: Database) -> int:
    if not database.is_sqlite:
        return int(conn.execute(text("SELECT pg_database_size(current_database())")).scalar() or 0)
    return sum(os.path.getsize(p) for p in (database.path, database.path + "-wal") if os.path.exists(p))
