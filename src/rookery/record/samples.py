"""Resource samples, as the agents send them with their heartbeats."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from rookery.errors import UserError
from rookery.record.database import Database
from rookery.record.run_rows import run_row
from rookery.record.schema import samples

__all__ = ["Samples"]


class Samples:
    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, run_id: str, node: int, given: list[dict[str, Any]]) -> None:
        """Keeps one heartbeat's samples as one row."""
        if not given:
            return
        if not all(isinstance(sample, dict) for sample in given):
            raise UserError("samples must be a list of objects.")
        with self._db.write() as tx:
            tx.conn.execute(insert(samples).values(run_id=run_id, node=node, data=given))

    def get(self, run_id: str) -> list[dict[str, Any]]:
        """Every sample of the run, in the order they came, each with its node."""
        query = select(samples.c.node, samples.c.data).where(samples.c.run_id == run_id).order_by(samples.c.id)
        with self._db.read() as conn:
            run_row(conn, run_id)
            return [{**sample, "node": node} for node, data in conn.execute(query) for sample in data]
