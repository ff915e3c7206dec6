"""Counts for whoever watches the keeper."""

from __future__ import annotations

import time

from sqlalchemy import func, select, text

from rookery.record.database import Database
from rookery.record.metric_batch import MetricBatch
from rookery.record.schema import content, logs, runs

__all__ = ["Numbers"]

FRESH_S = 5.0
SIZES_FRESH_S = 30.0


class Numbers:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._at = -FRESH_S
        self._by_status: dict[str, int] = {}
        self._sizes_at = -SIZES_FRESH_S
        self._sizes: dict[str, int] = {}

    def runs_by_status(self) -> dict[str, int]:
        """From an index, and not more often than every five seconds: with many runs it still is a walk over all."""
        if time.monotonic() - self._at >= FRESH_S:
            with self._db.read() as conn:
                found = conn.execute(select(runs.c.status, func.count()).group_by(runs.c.status)).all()
            self._by_status, self._at = {row[0]: row[1] for row in found}, time.monotonic()
        return dict(self._by_status)

    def stored_bytes(self) -> dict[str, int]:
        """What files and logs take; a walk over all of them, so not more often than every half minute."""
        if time.monotonic() - self._sizes_at >= SIZES_FRESH_S:
            with self._db.read() as conn:
                found = {
                    name: int(conn.execute(select(func.coalesce(func.sum(column), 0))).scalar() or 0)
                    for name, column in (("content_bytes", content.c.size), ("log_bytes", logs.c.size))
                }
            self._sizes, self._sizes_at = found, time.monotonic()
        return dict(self._sizes)

    def values_taken(self) -> int:
        """Metric values since the keeper started."""
        return MetricBatch.taken

    def is_well(self) -> bool:
        """Whether the database answers; StorageError says why not."""
        with self._db.read() as conn:
            return conn.execute(text("SELECT 1")).scalar() == 1
