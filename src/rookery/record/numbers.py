"""Counts for whoever watches the keeper."""

from __future__ import annotations

import time

from sqlalchemy import case, func, select, text

from rookery.record.database import Database
from rookery.record.metric_batch import MetricBatch
from rookery.record.run_table import ARCHIVED_TAG
from rookery.record.schema import content, logs, run_tags, runs

__all__ = ["Numbers"]

FRESH_S = 5.0
QUICK_S = 0.1  # what takes no longer is counted whenever somebody asks
COUNTING_SHARE = 0.05  # of the time at most is spent on counting the runs of experiments
SIZES_FRESH_S = 30.0


class Numbers:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._at = -FRESH_S
        self._by_status: dict[str, int] = {}
        self._sizes_at = -SIZES_FRESH_S
        self._sizes: dict[str, int] = {}
        self._counted_until = 0.0
        self._by_experiment: dict[str, tuple[int, int]] = {}

    def runs_by_status(self) -> dict[str, int]:
        """From an index, and not more often than every five seconds: with many runs it still is a walk over all."""
        if time.monotonic() - self._at >= FRESH_S:
            with self._db.read() as conn:
                found = conn.execute(select(runs.c.status, func.count()).group_by(runs.c.status)).all()
            self._by_status, self._at = {row[0]: row[1] for row in found}, time.monotonic()
        return dict(self._by_status)

    def runs_by_experiment(self) -> dict[str, tuple[int, int]]:
        """{experiment id: (runs that its page shows, children of runs)}: what is archived or deleted is in neither. It is a walk over
        all runs: of many, which takes long, the last answer is given for a while."""
        start = time.monotonic()
        if start >= self._counted_until:
            is_child = runs.c.parent_id.is_not(None)
            put_away = select(run_tags.c.run_id).where(run_tags.c.key == ARCHIVED_TAG)
            query = (
                select(runs.c.experiment_id, func.count(), func.sum(case((is_child, 1), else_=0)))
                .where(runs.c.deleted_utc.is_(None), runs.c.id.not_in(put_away))
                .group_by(runs.c.experiment_id)
            )
            with self._db.read() as conn:
                found = conn.execute(query).all()
            self._by_experiment = {row[0]: (int(row[1] - row[2]), int(row[2])) for row in found}
            took = time.monotonic() - start
            self._counted_until = start + took / COUNTING_SHARE if took > QUICK_S else 0.0
        return dict(self._by_experiment)

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
