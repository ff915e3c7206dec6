"""Logs: bytes in files, sizes in the database. What the database says is there; what lies beyond is an
unfinished append.
"""

from __future__ import annotations

import errno
import os
from typing import Any, Optional

from sqlalchemy import func, insert, select, update

from rookery.errors import ArtifactNotFoundError, ConflictError, PathError
from rookery.record.database import Database
from rookery.record.events import log_rows, merge_log_rows, write_events
from rookery.record.run_rows import run_row
from rookery.record.schema import logs
from rookery.record.storage import storage_errors
from rookery.spec.logs import canonical_log_name
from rookery.spec.names import check_artifact_name
from rookery.spec.paths import WorkspacePaths

__all__ = ["Logs"]

LOOSE_ROWS = 500


class Logs:
    """Promises: appends are idempotent by offset; bytes are in the file before the size that covers them is
    committed.
    """

    def __init__(self, db: Database, paths: WorkspacePaths) -> None:
        self._db = db
        self._paths = paths

    def append(self, run_id: str, name: str, offset: int, data: bytes) -> int:
        """Adds what is new of the bytes at [offset, …); returns the size stored now.

        Raises:
            ConflictError: the offset is beyond the stored size; details have the `offset` to go on from.
        """
        name = _checked(name)
        with self._db.write() as tx:
            row = tx.conn.execute(select(logs).where(logs.c.run_id == run_id, logs.c.name == name)).first()
            if row is None:
                run_row(tx.conn, run_id)
            size = row.size if row is not None else 0
            if offset < 0 or offset > size:
                raise ConflictError(
                    f"Log '{name}' has {size} bytes; {offset} does not follow.", details={"offset": size}
                )
            fresh = memoryview(data)[size - offset :]
            if not fresh:
                if row is None:
                    tx.conn.execute(insert(logs).values(run_id=run_id, name=name, size=0, loose=0))
                return size
            self._write(run_id, name, size, fresh)
            new_size = size + len(fresh)
            if row is None:
                tx.conn.execute(insert(logs).values(run_id=run_id, name=name, size=new_size, loose=1))
            else:
                tx.conn.execute(
                    update(logs)
                    .where(logs.c.run_id == run_id, logs.c.name == name)
                    .values(size=new_size, loose=row.loose + 1)
                )
            write_events(tx, log_rows(run_id, name, size, len(fresh)))
            if row is not None and row.loose + 1 > LOOSE_ROWS:
                merge_log_rows(tx, run_id, name)
            return new_size

    def size(self, run_id: str, name: str) -> int:
        """Bytes stored; 0 for a log that does not exist."""
        return self.find(run_id, name) or 0

    def find(self, run_id: str, name: str) -> Optional[int]:
        """Bytes stored, or None when there is no such log."""
        with self._db.read() as conn:
            return conn.execute(
                select(logs.c.size).where(logs.c.run_id == run_id, logs.c.name == _checked(name))
            ).scalar()

    def sizes(self, run_id: str) -> dict[str, int]:
        """Every log of the run with its size, by name."""
        with self._db.read() as conn:
            query = select(logs.c.name, logs.c.size).where(logs.c.run_id == run_id).order_by(logs.c.name)
            return {row.name: row.size for row in conn.execute(query)}

    def total_bytes(self) -> int:
        """The bytes of all logs of all runs."""
        with self._db.read() as conn:
            return int(conn.execute(select(func.coalesce(func.sum(logs.c.size), 0))).scalar() or 0)

    def read(self, run_id: str, name: str, offset: int = 0, length: Optional[int] = None) -> bytes:
        """The bytes at [offset, offset + length), as far as they are stored."""
        name = _checked(name)
        size = self.find(run_id, name)
        if size is None:
            raise ArtifactNotFoundError(
                f"Run '{run_id}' has no log '{name}'. Known: {', '.join(self.sizes(run_id)) or 'none'}."
            )
        wanted = size - offset if length is None else min(length, size - offset)
        return self.read_stored(run_id, name, offset, wanted)

    def read_stored(self, run_id: str, name: str, offset: int, length: int) -> bytes:
        """The same for a caller that knows the bytes are stored (an event row says so)."""
        if length <= 0:
            return b""
        fd = os.open(self._paths.log(run_id, name), os.O_RDONLY | os.O_NOFOLLOW)
        try:
            return os.pread(fd, length, offset)
        finally:
            os.close(fd)

    def _write(self, run_id: str, name: str, offset: int, data: Any) -> None:
        path = self._paths.log(run_id, name)
        with storage_errors(self._paths.logs), _name_errors(name):
            fd = self._open(path)
            try:
                done = 0
                while done < len(data):
                    done += os.pwrite(fd, data[done:], offset + done)
            finally:
                os.close(fd)

    def _open(self, path: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            return os.open(path, flags, 0o600)


class _name_errors:
    """A log whose name cannot be a file beside the others (`a` and `a/b`) is refused, not an internal error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: Any, _traceback: Any) -> None:
        if isinstance(error, OSError) and error.errno in (
            errno.ENOTDIR,
            errno.EISDIR,
            errno.EEXIST,
            errno.ENAMETOOLONG,
            errno.ELOOP,
        ):
            raise PathError(
                f"Log name {self._name[:80]!r} cannot be stored ({error.strerror}). Choose another."
            ) from error


def _checked(name: str) -> str:
    return canonical_log_name(check_artifact_name(name))
