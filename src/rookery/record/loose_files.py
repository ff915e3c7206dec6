"""Files that belong to no run: paths that point to content."""

from __future__ import annotations

from typing import Any, Optional

from sqlalchemy import delete, func, insert, select, update

from rookery.errors import UserError
from rookery.record.clock import utc_now
from rookery.record.content import require_content
from rookery.record.database import Database
from rookery.record.schema_tracking import loose_files
from rookery.spec.names import check_artifact_name

__all__ = ["LooseFiles"]

MAX_PATH = 1024


class LooseFiles:
    def __init__(self, db: Database) -> None:
        self._db = db

    def link(self, path: str, sha256: str) -> None:
        """Gives stored content a path; what had it before is forgotten."""
        name = check_artifact_name(path)
        if len(name) > MAX_PATH:
            raise UserError(f"The path {name[:80]!r}… has {len(name)} characters; {MAX_PATH} are allowed.")
        with self._db.write() as tx:
            values = {"sha256": sha256, "size": require_content(tx.conn, sha256), "modified_utc": utc_now()}
            if tx.conn.execute(select(loose_files.c.name).where(loose_files.c.name == name)).first() is None:
                tx.conn.execute(insert(loose_files).values(name=name, **values))
            else:
                tx.conn.execute(update(loose_files).where(loose_files.c.name == name).values(**values))

    def find(self, path: str) -> Optional[dict[str, Any]]:
        with self._db.read() as conn:
            row = conn.execute(select(loose_files).where(loose_files.c.name == path)).mappings().first()
            return None if row is None else dict(row)

    def below(self, folder: str) -> list[dict[str, Any]]:
        """Every file under a folder, by path."""
        with self._db.read() as conn:
            return [dict(row) for row in conn.execute(_below(folder)).mappings()]

    def delete(self, path: str) -> int:
        """Forgets a file, or all under a folder; how many."""
        with self._db.write() as tx:
            names = [path, *(row.name for row in tx.conn.execute(_below(path)))]
            gone = 0
            for i in range(0, len(names), 500):
                gone += tx.conn.execute(delete(loose_files).where(loose_files.c.name.in_(names[i : i + 500]))).rowcount
            return gone


def _below(folder: str) -> Any:
    # substr, not LIKE: SQLite's ignores capitals.
    prefix = folder.rstrip("/") + "/"
    return (
        select(loose_files)
        .where(func.substr(loose_files.c.name, 1, len(prefix)) == prefix)
        .order_by(loose_files.c.name)
    )
