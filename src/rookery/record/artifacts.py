"""Artifacts: names inside a run that point to content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, delete, func, insert, select, update

from rookery.errors import ArtifactNotFoundError, ModelNotFoundError
from rookery.record.clock import utc_now
from rookery.record.content import require_content
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.run_rows import run_row
from rookery.record.schema import artifacts
from rookery.spec.names import check_artifact_name

__all__ = ["Artifacts", "artifacts_below"]

SHOWN = 20


class Artifacts:
    def __init__(self, db: Database) -> None:
        self._db = db

    def link(self, run_id: str, name: str, sha256: str) -> dict[str, Any]:
        """Gives stored content a name in a run; an artifact of that name then means the new content.

        Raises:
            ArtifactNotFoundError: the content is not stored.
        """
        return self.link_many(run_id, [(name, sha256)])[0]

    def link_many(self, run_id: str, links: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
        """The same for several (name, sha256): all of them, or none."""
        checked = [(check_artifact_name(name), sha256) for name, sha256 in links]
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            return [_link(tx, run_id, name, sha256) for name, sha256 in checked]

    def find(self, run_id: str, name: str) -> Optional[dict[str, Any]]:
        """The artifact, or None."""
        with self._db.read() as conn:
            query = select(artifacts).where(artifacts.c.run_id == run_id, artifacts.c.name == check_artifact_name(name))
            row = conn.execute(query).first()
            return None if row is None else _plain(row)

    def get(self, run_id: str, name: str) -> dict[str, Any]:
        """The artifact, or ArtifactNotFoundError that lists what there is."""
        found = self.find(run_id, name)
        if found is None:
            known = [artifact["name"] for artifact in self.list(run_id)]
            more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
            raise ArtifactNotFoundError(
                f"Run '{run_id}' has no file '{name:.255}'. Known: {', '.join(known[:SHOWN]) or 'none'}{more}."
            )
        return found

    def list(self, run_id: str, prefix: str = "") -> list[dict[str, Any]]:
        """Every artifact whose name starts with `prefix`, by name."""
        query = select(artifacts).where(artifacts.c.run_id == run_id).order_by(artifacts.c.name)
        with self._db.read() as conn:
            run_row(conn, run_id)
            rows = conn.execute(query)
            # Compared here, because LIKE ignores case on one database and not on the other.
            return [_plain(row) for row in rows if row.name.startswith(prefix)]

    def totals(self, run_id: str) -> dict[str, int]:
        """How many files a run has, and how many bytes they take."""
        query = select(func.count(), func.coalesce(func.sum(artifacts.c.size), 0)).where(artifacts.c.run_id == run_id)
        with self._db.read() as conn:
            files, size = conn.execute(query).one()
        return {"files": int(files), "bytes": int(size)}

    def delete(self, run_id: str, path: str) -> int:
        """Forgets a file, or all below a folder (empty: all of the run's); how many. Their content stays until it is
        collected."""
        wanted = check_artifact_name(path) if path else ""
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            query = select(artifacts.c.name).where(artifacts.c.run_id == run_id)
            names = [n for (n,) in tx.conn.execute(query) if not wanted or n == wanted or n.startswith(wanted + "/")]
            for name in names:
                tx.conn.execute(delete(artifacts).where(artifacts.c.run_id == run_id, artifacts.c.name == name))
            return len(names)


def _link(tx: Tx, run_id: str, name: str, sha256: str) -> dict[str, Any]:
    size = require_content(tx.conn, sha256)
    key = (artifacts.c.run_id == run_id, artifacts.c.name == name)
    values = {"sha256": sha256, "size": size, "modified_utc": utc_now()}
    if tx.conn.execute(select(artifacts.c.sha256).where(*key)).first() is None:
        tx.conn.execute(insert(artifacts).values(run_id=run_id, name=name, **values))
    else:
        tx.conn.execute(update(artifacts).where(*key).values(**values))
    write_event(tx, run_id, "artifact", {"run": run_id, "name": name, "size": size}, name)
    return {"name": name, **values}


def artifacts_below(conn: Connection, run_id: str, path: str) -> tuple[list[dict[str, Any]], bool]:
    """(files, whether it is a folder). Their paths begin with the last part of `path`: a folder keeps its own name."""
    query = select(artifacts).where(artifacts.c.run_id == run_id).order_by(artifacts.c.name)
    rows = conn.execute(query).all()
    for row in rows:
        if row.name == path:
            return [{"path": path.rpartition("/")[2], "sha256": row.sha256, "size": row.size}], False
    above = len(path) - len(path.rpartition("/")[2])
    found = [
        {"path": row.name[above:], "sha256": row.sha256, "size": row.size}
        for row in rows
        if row.name.startswith(path + "/")
    ]
    if not found:
        known = ", ".join(row.name for row in rows[:SHOWN]) or "none"
        raise ModelNotFoundError(f"Run '{run_id}' has no file or folder '{path}' to register. Known: {known}.")
    return found, True


def _plain(row: Any) -> dict[str, Any]:
    return {"name": row.name, "size": row.size, "sha256": row.sha256, "modified_utc": row.modified_utc}
