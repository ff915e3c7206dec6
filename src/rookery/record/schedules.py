"""Schedules: which published pipeline runs when, and what is about to be started."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from sqlalchemy import Connection, delete, func, insert, select, update

from rookery.errors import NotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.schema_pipeline import pipeline_schedules
from rookery.record.text import clean_text
from rookery.spec.names import new_guid

__all__ = ["Schedules"]


class Schedules:
    """Promises: which run a schedule makes next is stored before it is made."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(self, name: str, facts: dict[str, Any], next_utc: Optional[str], created_by: str) -> dict[str, Any]:
        row = {
            "id": new_guid(),
            "name": clean_text(name, "name", 255),
            "status": "Active",
            "facts": facts,
            "state": {},
            "next_utc": next_utc,
            "created_utc": utc_now(),
            "created_by": clean_text(created_by),
        }
        with self._db.write() as tx:
            tx.conn.execute(insert(pipeline_schedules).values(**row))
        return _plain(row)

    def list(self, active_only: bool = False) -> list[dict[str, Any]]:
        query = select(pipeline_schedules).order_by(pipeline_schedules.c.created_utc.desc())
        if active_only:
            query = query.where(pipeline_schedules.c.status == "Active")
        with self._db.read() as conn:
            return [_plain(row._mapping) for row in conn.execute(query)]

    def get(self, schedule_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _plain(_find(conn, schedule_id)._mapping)

    def change(self, schedule_id: str, **values: Any) -> dict[str, Any]:
        """Columns: name, status, facts, state, next_utc."""
        with self._db.write() as tx:
            _find(tx.conn, schedule_id)
            tx.conn.execute(update(pipeline_schedules).where(pipeline_schedules.c.id == schedule_id).values(**values))
            return _plain(_find(tx.conn, schedule_id)._mapping)

    def delete(self, schedule_id: str) -> None:
        with self._db.write() as tx:
            _find(tx.conn, schedule_id)
            tx.conn.execute(delete(pipeline_schedules).where(pipeline_schedules.c.id == schedule_id))

    def due(self, now: str) -> builtins.list[dict[str, Any]]:
        """Active ones whose time has come."""
        which = (pipeline_schedules.c.status == "Active") & (pipeline_schedules.c.next_utc <= now)
        with self._db.read() as conn:
            return [_plain(row._mapping) for row in conn.execute(select(pipeline_schedules).where(which))]

    def next_due(self) -> Optional[str]:
        """When the next of them is due; None: there is none."""
        query = select(func.min(pipeline_schedules.c.next_utc)).where(pipeline_schedules.c.status == "Active")
        with self._db.read() as conn:
            return conn.execute(query).scalar()


def _find(conn: Connection, schedule_id: str) -> Any:
    row = conn.execute(select(pipeline_schedules).where(pipeline_schedules.c.id == schedule_id)).first()
    if row is None:
        raise NotFoundError(f"There is no schedule '{schedule_id:.80}'. Schedule.list(ws) names them.")
    return row


def _plain(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "status": row["status"],
        "facts": row["facts"],
        "state": row["state"],
        "next_utc": row["next_utc"],
        "created_utc": row["created_utc"],
        "created_by": row["created_by"],
    }
