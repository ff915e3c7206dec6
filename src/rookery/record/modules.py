"""Modules of one's own: a card, and the snapshot of the code that runs it. The vision room's are no rows here."""

from __future__ import annotations

from typing import Any, Optional

from sqlalchemy import delete, insert, select, update

from rookery.errors import NotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.events import write_event
from rookery.record.schema_pipeline import pipeline_modules
from rookery.record.text import clean_text

__all__ = ["CustomModules"]


class CustomModules:
    """Promises: the same card and code again is the same version; anything else is the next."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, name: str, card: dict[str, Any], snapshot_id: str, created_by: str) -> dict[str, Any]:
        with self._db.write() as tx:
            this = pipeline_modules.c.name == name
            row = tx.conn.execute(select(pipeline_modules).where(this)).first()
            values = {
                "card": card,
                "snapshot_id": snapshot_id,
                "created_utc": utc_now(),
                "created_by": clean_text(created_by),
            }
            if row is None:
                tx.conn.execute(insert(pipeline_modules).values(name=name, version=1, **values))
            elif (row.card, row.snapshot_id) != (card, snapshot_id):
                tx.conn.execute(update(pipeline_modules).where(this).values(version=row.version + 1, **values))
            write_event(tx, None, "module", {"name": name}, name)
            return _plain(tx.conn.execute(select(pipeline_modules).where(this)).first())

    def list(self) -> list[dict[str, Any]]:
        with self._db.read() as conn:
            return [_plain(row) for row in conn.execute(select(pipeline_modules).order_by(pipeline_modules.c.name))]

    def find(self, name: str) -> Optional[dict[str, Any]]:
        with self._db.read() as conn:
            row = conn.execute(select(pipeline_modules).where(pipeline_modules.c.name == name)).first()
        return None if row is None else _plain(row)

    def delete(self, name: str) -> None:
        with self._db.write() as tx:
            if not tx.conn.execute(delete(pipeline_modules).where(pipeline_modules.c.name == name)).rowcount:
                raise NotFoundError(f"There is no module '{name:.80}' of yours. `rookery module list` names them.")
            write_event(tx, None, "module", {"name": name}, name)


def _plain(row: Any) -> dict[str, Any]:
    return {
        "name": row.name,
        "version": row.version,
        "card": row.card,
        "snapshot_id": row.snapshot_id,
        "created_utc": row.created_utc,
        "created_by": row.created_by,
    }
