"""Which run used or made which data: what it was given, what that came to, and the version it had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import delete, insert, or_, select

from rookery.record.database import Database
from rookery.record.run_rows import run_row
from rookery.record.schema import runs
from rookery.record.schema_data import run_data
from rookery.spec.manifest import Manifest

__all__ = ["RunData", "data_row"]


class RunData:
    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, run_id: str, rows: Sequence[dict[str, Any]]) -> None:
        """Rows as `data_row` makes them; one of the same direction and name is replaced."""
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            for row in rows:
                same = (run_data.c.direction == row["direction"]) & (run_data.c.name == row["name"])
                tx.conn.execute(delete(run_data).where(run_data.c.run_id == run_id, same))
                tx.conn.execute(insert(run_data).values(run_id=run_id, **row))

    def of_run(self, run_id: str, direction: Optional[str] = None) -> list[dict[str, Any]]:
        """What a run was given (`in`) and made (`out`), in order of names."""
        query = select(run_data).where(run_data.c.run_id == run_id).order_by(run_data.c.direction, run_data.c.name)
        if direction is not None:
            query = query.where(run_data.c.direction == direction)
        with self._db.read() as conn:
            return [_plain(row) for row in conn.execute(query)]

    def runs_of(self, name: str, version: int, fingerprint: str = "") -> list[dict[str, Any]]:
        """The runs that used or made a version, or the same content under another name; the newest first."""
        by_name = (run_data.c.data_name == name) & (run_data.c.data_version == version)
        same = or_(by_name, run_data.c.fingerprint == fingerprint) if fingerprint else by_name
        shown = (runs.c.status, runs.c.display_name, runs.c.created_utc, runs.c.number, runs.c.seq)
        query = select(run_data, *shown).join(runs, runs.c.id == run_data.c.run_id).where(same)
        with self._db.read() as conn:
            rows = conn.execute(query.order_by(runs.c.seq.desc(), run_data.c.name).limit(1000)).all()
        return [
            {
                **_plain(row),
                "status": row.status,
                "display_name": row.display_name,
                "created_utc": row.created_utc,
                "number": row.number,
                "by_name": (row.data_name, row.data_version) == (name, version),
            }
            for row in rows
        ]


def data_row(
    direction: str,
    name: str,
    mode: str,
    definition_id: str,
    manifest: Optional[Manifest],
    data_name: str = "",
    data_version: Optional[int] = None,
) -> dict[str, Any]:
    """One row; without a manifest (direct mode) it says what was asked for only."""
    return {
        "direction": direction,
        "name": name,
        "mode": mode,
        "definition_id": definition_id,
        "data_name": data_name,
        "data_version": data_version,
        "manifest_id": manifest.id if manifest else "",
        "fingerprint": manifest.fingerprint if manifest else "",
        "files": manifest.files if manifest else 0,
        "bytes": manifest.bytes if manifest else 0,
        "is_single": int(manifest.is_single) if manifest else 0,
    }


def _plain(row: Any) -> dict[str, Any]:
    return {
        "run_id": row.run_id,
        "direction": row.direction,
        "name": row.name,
        "mode": row.mode,
        "definition_id": row.definition_id,
        "data_name": row.data_name,
        "data_version": row.data_version,
        "manifest_id": row.manifest_id,
        "fingerprint": row.fingerprint,
        "files": row.files,
        "bytes": row.bytes,
        "is_single": bool(row.is_single),
    }
