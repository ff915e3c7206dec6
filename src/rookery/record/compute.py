"""Compute targets as stored; what they are doing now is the engine's to say."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select, update

from rookery.errors import ComputeNotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.schema import compute

__all__ = ["ComputeTargets"]


class ComputeTargets:
    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self) -> list[dict[str, Any]]:
        """{name, spec, created_utc, modified_utc} of every target, by name."""
        with self._db.read() as conn:
            return [dict(row._mapping) for row in conn.execute(select(compute).order_by(compute.c.name))]

    def get(self, name: str) -> dict[str, Any]:
        with self._db.read() as conn:
            row = conn.execute(select(compute).where(compute.c.name == name)).first()
        if row is None:
            known = ", ".join(["local", *(target["name"] for target in self.list())])
            raise ComputeNotFoundError(
                f"Compute '{name:.255}' does not exist. Known: {known}. Create it with `rookery compute create`."
            )
        return dict(row._mapping)

    def put(self, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Stores a target, new or changed."""
        now = utc_now()
        with self._db.write() as tx:
            changed = tx.conn.execute(update(compute).where(compute.c.name == name).values(spec=spec, modified_utc=now))
            if changed.rowcount == 0:
                tx.conn.execute(insert(compute).values(name=name, spec=spec, created_utc=now, modified_utc=now))
            _tell(tx, name)
        return self.get(name)

    def delete(self, name: str) -> None:
        self.get(name)
        with self._db.write() as tx:
            tx.conn.execute(delete(compute).where(compute.c.name == name))
            _tell(tx, name)

    def tell(self, name: str) -> None:
        """Something about the target has changed that is not stored here (its nodes); readers should look again."""
        with self._db.write() as tx:
            _tell(tx, name)


def _tell(tx: Tx, name: str) -> None:
    write_event(tx, None, "compute", {"name": name}, name)
    tx.ring("compute")
