"""Traces: what a program says about one request of its own, kept as it was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import delete, insert, select

from rookery.record.database import Database
from rookery.record.schema_tracking import traces

__all__ = ["Traces"]


class Traces:
    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, trace_id: str, experiment_id: str, time_ms: int, data: dict[str, Any]) -> None:
        """Keeps a trace; one of that id is replaced."""
        with self._db.write() as tx:
            tx.conn.execute(delete(traces).where(traces.c.id == trace_id))
            tx.conn.execute(insert(traces).values(id=trace_id, experiment_id=experiment_id, time_ms=time_ms, data=data))

    def get(self, trace_id: str) -> Optional[dict[str, Any]]:
        with self._db.read() as conn:
            row = conn.execute(select(traces).where(traces.c.id == trace_id)).mappings().first()
            return None if row is None else dict(row)

    def list(self, experiment_ids: Sequence[str], limit: int, offset: int = 0) -> list[dict[str, Any]]:
        """Newest first."""
        query = select(traces).where(traces.c.experiment_id.in_(list(experiment_ids)))
        query = query.order_by(traces.c.time_ms.desc(), traces.c.id).limit(limit).offset(offset)
        with self._db.read() as conn:
            return [dict(row) for row in conn.execute(query).mappings()]

    def delete(self, trace_ids: Sequence[str]) -> int:
        with self._db.write() as tx:
            return tx.conn.execute(delete(traces).where(traces.c.id.in_(list(trace_ids)))).rowcount
