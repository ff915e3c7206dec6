"""Runs of programs that only tell us about them: what such a program may say, one transaction each.

Unlike a submitted run, an external one is what its program says it is, its status included; what was said last stands. A
program that falls silent leaves its run Running: then the run is stale, which is said wherever it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Optional

from sqlalchemy import select, update

from rookery.errors import ConflictError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.metric_values import Chunk
from rookery.record.metrics import MetricBatch
from rookery.record.params import add_params
from rookery.record.run_rows import run_row
from rookery.record.run_steps import add_tags, create_run, remove_tags, rename, set_status
from rookery.record.schema import runs
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import ACTIVE, RunStatus

__all__ = ["External", "is_stale"]

HEARD_EVERY_S = 30.0
MAX_HEARD = 10_000


class External:
    """What trackers write. `log` is for every kind of run; the status only of external ones is theirs to set.

    Promises: all of a call is stored, or nothing; writing to a run that is out of sight (deleted) is a ConflictError.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._heard: dict[str, float] = {}

    def create(self, spec: RunSpec, submitted_by: str, began_ms: Optional[int] = None) -> None:
        with self._db.write() as tx:
            create_run(tx, spec, submitted_by, began_ms=began_ms)

    def log(
        self,
        run_id: str,
        *,
        metrics: Sequence[tuple[str, Chunk]] = (),
        params: Optional[dict[str, str]] = None,
        tags: Optional[dict[str, Any]] = None,
        remove: Sequence[str] = (),
        names: Optional[dict[str, Any]] = None,
    ) -> list[str]:
        """Stores what came; returns sentences about metrics that were refused because their name has another kind.

        Raises:
            ConflictError: a parameter has another value already (details: key, value), or the run is deleted.
        """
        with self._db.write() as tx:
            self._hear(tx, run_id)
            add_params(tx, run_id, params or {})
            if tags:
                add_tags(tx, run_id, tags)
            if remove:
                remove_tags(tx, run_id, list(remove))
            if names:
                rename(tx, run_id, names)
            batch = MetricBatch()
            for name, chunk in metrics:
                batch.add(run_id, name, "scalar", chunk)
            batch.write(tx)
            return [text for _, text in batch.refused]

    def report(self, run_id: str, status: RunStatus, ended_ms: Optional[int] = None) -> bool:
        """Sets the status of an external run, over or not; False for one whose status belongs to its agent."""
        with self._db.write() as tx:
            if self._hear(tx, run_id).kind != RunKind.EXTERNAL:
                return False
            more = {"ended_utc": from_unix(ended_ms / 1000)} if ended_ms is not None and status.is_terminal else {}
            set_status(tx, run_id, status, more=more, reopen=True)
            return True

    def delete(self, run_id: str, restore: bool = False) -> None:
        """Puts a run out of sight, or back. Nothing of it is removed."""
        with self._db.write() as tx:
            row = run_row(tx.conn, run_id)
            if not restore and row.kind != RunKind.EXTERNAL and RunStatus(row.status) in ACTIVE:
                raise ConflictError(f"Run '{run_id}' is {row.status}. Stop it before you delete it.")
            tx.conn.execute(update(runs).where(runs.c.id == run_id).values(deleted_utc=None if restore else utc_now()))
            write_event(tx, run_id, "run", {"run": run_id, "deleted": not restore})

    def is_expected(self, within_s: float, until: float = 0.0) -> bool:
        """Whether the client of some external run was heard of so recently that it will come again; or, up to `until`, one
        that has not come yet."""
        if time.time() < until:
            return True
        since = from_unix(time.time() - within_s)
        query = select(runs.c.seq).where(
            runs.c.status.in_([s.value for s in ACTIVE]), runs.c.kind == RunKind.EXTERNAL, runs.c.heard_utc > since
        )
        with self._db.read() as conn:
            return conn.execute(query.limit(1)).first() is not None

    def _hear(self, tx: Tx, run_id: str) -> Any:
        """The row of a run that is written to; notes that its program lives, not more often than is useful."""
        columns = (runs.c.kind, runs.c.deleted_utc)
        row = tx.conn.execute(select(*columns).where(runs.c.id == run_id)).first()
        if row is None:
            run_row(tx.conn, run_id)  # raises
        assert row is not None
        if row.deleted_utc is not None:
            raise ConflictError(
                f"Run '{run_id}' is deleted. Restore it before you write to it.", details={"deleted": True}
            )
        now = time.monotonic()
        if row.kind == RunKind.EXTERNAL and now - self._heard.get(run_id, -HEARD_EVERY_S) >= HEARD_EVERY_S:
            tx.conn.execute(update(runs).where(runs.c.id == run_id).values(heard_utc=utc_now()))
            if len(self._heard) >= MAX_HEARD:
                self._heard.clear()
            self._heard[run_id] = now
        return row


def is_stale(run: dict[str, Any], after_s: float) -> bool:
    """Whether nothing has come from the program of this external run for so long that it may be gone."""
    if run["kind"] != RunKind.EXTERNAL or RunStatus(run["status"]).is_terminal or not run["heard_utc"]:
        return False
    heard = datetime.strptime(run["heard_utc"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return time.time() - heard.timestamp() > after_s
