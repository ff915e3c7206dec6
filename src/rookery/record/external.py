"""Runs of programs that only tell us about them: what such a program may say, one transaction each.

Unlike a submitted run, an external one is what its program says it is, its status included; what was said last stands. A
program that falls silent leaves its run Running: then the run is stale, which is said wherever it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Optional

from sqlalchemy import bindparam, select, update

from rookery.errors import ConflictError, RookeryError, StorageError, UserError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.logged_models import add_model_metrics
from rookery.record.metric_batch import MetricBatch
from rookery.record.metric_values import Chunk
from rookery.record.params import add_params
from rookery.record.prepared import Prepared
from rookery.record.run_rows import run_row
from rookery.record.run_steps import add_tags, create_run, remove_tags, rename, set_status
from rookery.record.schema import runs
from rookery.record.storage import storage_errors
from rookery.record.text import clean_map
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import ACTIVE, RunStatus

__all__ = ["External", "Said", "is_stale"]

HEARD_EVERY_S = 30.0
MAX_HEARD = 10_000


@dataclass
class Said:
    """What a program says about one run in one call: stored whole or not at all."""

    run_id: str
    metrics: Sequence[tuple[str, Chunk]] = ()
    params: Optional[dict[str, str]] = None
    tags: Optional[dict[str, Any]] = None
    remove: Sequence[str] = ()
    names: Optional[dict[str, Any]] = None
    on_models: Sequence[dict[str, Any]] = ()  # those of the values that were measured on a model which was logged

    @property
    def is_only_metrics(self) -> bool:
        return not (self.params or self.tags or self.remove or self.names or self.on_models)


class External:
    """What trackers write. `log` is for every kind of run; the status only of external ones is theirs to set.

    Promises: all of a call is stored, or nothing; writing to a run that is out of sight (deleted) is a ConflictError.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._heard: dict[str, float] = {}

    def create(self, spec: RunSpec, submitted_by: str, began_ms: Optional[int] = None) -> dict[str, Any]:
        """The new run, as `record.search` returns them."""
        with self._db.write() as tx:
            row = create_run(tx, spec, submitted_by, began_ms=began_ms)
        tags = clean_map(spec.tags, "tags")
        more = {"ended_utc": None, "deleted_utc": None, "archived_utc": None, "experiment": spec.experiment}
        return {**row, **more, "tags": dict(sorted(tags.items())), "params": {}, "metrics": [], "inputs": []}

    def log(
        self,
        run_id: str,
        *,
        metrics: Sequence[tuple[str, Chunk]] = (),
        params: Optional[dict[str, str]] = None,
        tags: Optional[dict[str, Any]] = None,
        remove: Sequence[str] = (),
        names: Optional[dict[str, Any]] = None,
    ) -> None:
        """Stores what came.

        Raises:
            RunNotFoundError: there is no such run.
            ConflictError: a parameter has another value already (details: key, value), or the run is deleted.
            UserError: the name of a metric has another kind.
        """
        said = Said(run_id, metrics, params, tags, remove, names)
        (problem,) = self.log_all([said])
        if problem is not None:
            raise problem

    def log_all(self, said: Sequence[Said], wait: bool = True) -> list[Optional[RookeryError]]:
        """Stores what several have said, in order, in one transaction; what is wrong with each, or None where it is stored.

        Raises:
            StorageError: none of them is stored.
            WriterBusy: none of them is stored, because somebody else writes and `wait` is false.
        """
        with self._db.write(wait) as tx:
            batch = MetricBatch()
            problems = [self._take(tx, one, batch) for one in said]
            batch.write(tx)
        return problems

    def _take(self, tx: Tx, said: Said, batch: MetricBatch) -> Optional[RookeryError]:
        """Everything but the metrics is stored here; those are added to the batch once nothing can be wrong any more."""
        try:
            if said.is_only_metrics:
                self._hear(tx, said.run_id)
                self._check_kinds(tx, said, batch)
            else:
                # What one has said must not be half stored, and must not undo what the others have.
                with storage_errors(self._db.where), tx.conn.begin_nested():
                    self._hear(tx, said.run_id)
                    self._check_kinds(tx, said, batch)
                    self._take_labels(tx, said)
        except StorageError:
            raise
        except RookeryError as error:
            return error
        for name, chunk in said.metrics:
            batch.add(said.run_id, name, "scalar", chunk)
        return None

    def _take_labels(self, tx: Tx, said: Said) -> None:
        add_params(tx, said.run_id, said.params or {})
        if said.tags:
            add_tags(tx, said.run_id, said.tags)
        if said.remove:
            remove_tags(tx, said.run_id, list(said.remove))
        if said.names:
            rename(tx, said.run_id, said.names)
        if said.on_models:
            add_model_metrics(tx, said.on_models)

    def _check_kinds(self, tx: Tx, said: Said, batch: MetricBatch) -> None:
        refusal = batch.refusal(tx, said.run_id, [name for name, _ in said.metrics], "scalar")
        if refusal is not None:
            raise UserError(refusal)

    def report(self, run_id: str, status: RunStatus, ended_ms: Optional[int] = None) -> bool:
        """Sets the status of an external run, over or not; False for one whose status belongs to its agent."""
        with self._db.write() as tx:
            if self._hear(tx, run_id) != RunKind.EXTERNAL:
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
            tx.memory.forget(run_id)
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

    def _hear(self, tx: Tx, run_id: str) -> str:
        """The kind of a run that is written to; notes that its program lives, not more often than is useful."""
        kind = tx.memory.kinds.get(run_id)
        if kind is None:
            row = _KIND.run(tx.conn, (run_id,)).first()
            if row is None:
                run_row(tx.conn, run_id)  # raises
            kind, deleted_utc = row
            if deleted_utc is not None:
                raise ConflictError(
                    f"Run '{run_id}' is deleted. Restore it before you write to it.", details={"deleted": True}
                )
            tx.memory.kinds[run_id] = kind
        now = time.monotonic()
        if kind == RunKind.EXTERNAL and now - self._heard.get(run_id, -HEARD_EVERY_S) >= HEARD_EVERY_S:
            tx.conn.execute(update(runs).where(runs.c.id == run_id).values(heard_utc=utc_now()))
            if len(self._heard) >= MAX_HEARD:
                self._heard.clear()
            self._heard[run_id] = now
        return kind


_KIND = Prepared(select(runs.c.kind, runs.c.deleted_utc).where(runs.c.id == bindparam("run")), ("run",))


def is_stale(run: dict[str, Any], after_s: float) -> bool:
    """Whether nothing has come from the program of this external run for so long that it may be gone."""
    if run["kind"] != RunKind.EXTERNAL or RunStatus(run["status"]).is_terminal or not run["heard_utc"]:
        return False
    heard = datetime.strptime(run["heard_utc"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return time.time() - heard.timestamp() > after_s
