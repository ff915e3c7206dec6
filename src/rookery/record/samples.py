"""Resource samples, as the agents send them with their heartbeats."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from rookery.errors import UserError
from rookery.record.database import Database
from rookery.record.run_rows import run_row
from rookery.record.schema import samples

__all__ = ["Samples"]

_BATCH = 500


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

    def some(self, run_id: str, most: int) -> list[dict[str, Any]]:
        """Like `get`, but of each node at most `most` heartbeats, evenly spread, the last one among them: a run of weeks has
        a million samples, and a picture shows a few hundred."""
        query = select(samples.c.id, samples.c.node).where(samples.c.run_id == run_id).order_by(samples.c.id)
        by_node: dict[int, list[int]] = {}
        found: list[dict[str, Any]] = []
        with self._db.read() as conn:
            run_row(conn, run_id)
            for number, node in conn.execute(query):
                by_node.setdefault(node, []).append(number)
            wanted: list[int] = []
            for numbers in by_node.values():
                count = min(most, len(numbers))
                wanted += [numbers[len(numbers) * (i + 1) // count - 1] for i in range(count)]
            wanted.sort()
            for i in range(0, len(wanted), _BATCH):
                some = select(samples.c.node, samples.c.data).where(samples.c.id.in_(wanted[i : i + _BATCH]))
                for node, data in conn.execute(some.order_by(samples.c.id)):
                    found += [{**sample, "node": node} for sample in data]
        return found
