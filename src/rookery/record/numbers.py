"""Counts for whoever watches the keeper."""

from __future__ import annotations

import time

from sqlalchemy import func, select, text

from rookery.record.database import Database
from rookery.record.metrics import MetricBatch
from rookery.record.schema import runs

__all__ = ["Numbers"]

FRESH_S = 5.0


class Numbers:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._at = -FRESH_S
        self._by_status: dict[str, int] = {}

    def runs_by_status(self) -> dict[str, int]:
        """From an index, and not more often than every five seconds: with many runs it still is a walk over all."""
        if time.monotonic() - self._at >= FRESH_S:
            with self._db.read() as conn:
                found = conn.execute(select(runs.c.status, func.count()).group_by(runs.c.status)).all()
            self._by_status, self._at = {row[0]: row[1] for row in found}, time.monotonic()
        return dict(self._by_status)

    def values_taken(self) -> int:
        """Metric values since the keeper started."""
        return MetricBatch.taken

    def is_well(self) -> bool:
        """Whether the database answers; StorageError says why not."""
        with self._db.read() as conn:
            return conn.execute(text("SELECT 1")).scalar() == 1
