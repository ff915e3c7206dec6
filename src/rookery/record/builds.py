"""Builds of environments that no run has asked for: what, since when, how it ended, and what it said."""

from __future__ import annotations

import os
from typing import Any, Optional

from sqlalchemy import insert, select, update

from rookery.errors import NotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.schema import environment_builds
from rookery.record.storage import storage_errors
from rookery.spec.names import new_guid
from rookery.spec.paths import WorkspacePaths

__all__ = ["ENDED", "EnvironmentBuilds"]

RUNNING, SUCCEEDED, FAILED = "Running", "Succeeded", "Failed"
ENDED = (SUCCEEDED, FAILED)


class EnvironmentBuilds:
    """Promises: one running build per key; a log's bytes are in its file before the bell `build/<id>` rings."""

    def __init__(self, db: Database, paths: WorkspacePaths) -> None:
        self._db, self._paths = db, paths

    def begin(self, key: str, spec: dict[str, Any], by: str) -> tuple[dict[str, Any], bool]:
        """(the build, whether it is new). A build of the same key that is under way is returned."""
        with self._db.write() as tx:
            query = select(environment_builds).where(
                environment_builds.c.key == key, environment_builds.c.status == RUNNING
            )
            row = tx.conn.execute(query).first()
            if row is not None:
                return _plain(row), False
            build_id = new_guid()
            made = {"id": build_id, "key": key, "spec": spec, "status": RUNNING, "error": "", "built": None}
            tx.conn.execute(insert(environment_builds).values(**made, created_utc=utc_now(), created_by=by))
            return _plain(_row(tx.conn, build_id)), True

    def get(self, build_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _plain(_row(conn, build_id))

    def running(self) -> list[dict[str, Any]]:
        """Those that a keeper has begun and not ended, oldest first."""
        query = select(environment_builds).where(environment_builds.c.status == RUNNING)
        with self._db.read() as conn:
            return [_plain(row) for row in conn.execute(query.order_by(environment_builds.c.created_utc))]

    def end(self, build_id: str, error: str = "", built: Optional[dict[str, Any]] = None) -> None:
        """It is over: Failed where there is an error."""
        values = {"status": FAILED if error else SUCCEEDED, "error": error, "built": built, "ended_utc": utc_now()}
        with self._db.write() as tx:
            tx.conn.execute(update(environment_builds).where(environment_builds.c.id == build_id).values(**values))
            tx.ring(f"build/{build_id}")

    # -- its log

    def append_log(self, build_id: str, data: bytes) -> None:
        path = self._paths.build_log(build_id)
        with storage_errors(path):
            os.makedirs(self._paths.build_logs, mode=0o700, exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(fd, left) :]
            finally:
                os.close(fd)
        self._db.bell.ring(f"build/{build_id}")

    def log_size(self, build_id: str) -> int:
        try:
            return os.path.getsize(self._paths.build_log(build_id))
        except FileNotFoundError:
            return 0

    def read_log(self, build_id: str, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset` on."""
        try:
            with open(self._paths.build_log(build_id), "rb") as f:
                f.seek(offset)
                return f.read(length)
        except FileNotFoundError:
            return b""


def _row(conn: Any, build_id: str) -> Any:
    row = conn.execute(select(environment_builds).where(environment_builds.c.id == build_id)).first()
    if row is None:
        raise NotFoundError(f"There is no environment build '{build_id:.60}'. POST /environments/builds starts one.")
    return row


def _plain(row: Any) -> dict[str, Any]:
    names = ("id", "key", "status", "error", "built", "spec", "created_utc", "ended_utc", "created_by")
    return {name: getattr(row, name) for name in names}
