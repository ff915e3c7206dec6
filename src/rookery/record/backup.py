"""Backups: a whole record as one SQLite file, whatever database it comes from. `rookery db copy` brings one back."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import time

from rookery.errors import ConflictError, NotFoundError, StorageError
from rookery.record.bell import Bell
from rookery.record.copying import copy_database
from rookery.record.database import Database
from rookery.record.storage import storage_errors
from rookery.record.upgrade import revision_of

__all__ = ["back_up"]

PAGES = 2000  # that are copied at a time: writers get their turn in between


def back_up(database: Database, folder: str, path: str = "") -> str:
    """Writes the record as it is now to `path`, or to a new file in `folder`; returns where. Writers go on meanwhile. The
    file appears when it is complete and has been checked.

    Raises:
        ConflictError: there is a file at `path`.
        NotFoundError: the database holds no record.
        StorageError: the disk is full, or what was written is damaged.
    """
    with database.read() as conn:
        revision = revision_of(conn)
    if revision is None:
        raise NotFoundError(f"{database.where} holds no record yet: there is nothing to back up.")
    target = path or os.path.join(folder, f"record-{revision}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db")
    if path and os.path.exists(path):
        raise ConflictError(f"{path} exists already. Give another name; a backup replaces nothing.")
    partial = f"{target}.{secrets.token_hex(4)}.partial"
    with storage_errors(os.path.dirname(target)):
        os.makedirs(os.path.dirname(os.path.abspath(target)), mode=0o700, exist_ok=True)
        try:
            os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # it holds what the record holds
            if database.is_sqlite:
                _online(database.path, partial)
            else:
                _logical(database, partial)
            _check(partial)
            os.replace(partial, target)
        finally:
            for leftover in (partial, partial + "-wal", partial + "-shm", partial + "-journal"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(leftover)
    return target


def _online(source: str, target: str) -> None:
    with contextlib.closing(sqlite3.connect(source)) as reading, contextlib.closing(sqlite3.connect(target)) as writing:
        try:
            reading.backup(writing, pages=PAGES, sleep=0.01)
        except sqlite3.OperationalError as error:
            raise StorageError(f"The backup of {source} failed: {error}.", error) from error


def _logical(source: Database, target: str) -> None:
    made = Database(target, Bell())
    try:
        copy_database(source, made)
    finally:
        made.close()


def _check(path: str) -> None:
    """One file that stands for itself, and is sound."""
    with contextlib.closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode=DELETE")
        found = conn.execute("PRAGMA quick_check").fetchone()[0]
    if found != "ok":
        raise StorageError(f"The backup is damaged ({found}). Look at the disk, then try again.")
