"""Pipelines: where each step of a run stands, by which key it can be reused, and whom to compare it with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from sqlalchemy import delete, insert, select, update

from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.run_steps import create_run, set_status
from rookery.record.schema import runs
from rookery.record.schema_data import run_data
from rookery.record.schema_pipeline import pipeline_steps
from rookery.spec.run import RunSpec
from rookery.spec.status import RunStatus

__all__ = ["PipelineSteps"]

_NEW = {
    "run_id": None,
    "tries": 0,
    "key": "",
    "parts": None,
    "reused_from": None,
    "reuse": "",
    "reason": "",
    "outputs": None,
}


class PipelineSteps:
    """Promises: a step's row is stored before anything is done about it, and says which run it is to be."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def begin(self, pipeline_id: str, nodes: Iterable[tuple[str, str]]) -> None:
        """Rows for (node, origin) that have none yet; those that are there stay."""
        with self._db.write() as tx:
            query = select(pipeline_steps.c.node).where(pipeline_steps.c.pipeline_id == pipeline_id)
            known = set(tx.conn.execute(query).scalars())
            now = utc_now()
            rows = [
                {
                    "pipeline_id": pipeline_id,
                    "node": node,
                    "origin": origin,
                    "phase": "waiting",
                    "changed_utc": now,
                    **_NEW,
                }
                for node, origin in nodes
                if node not in known
            ]
            if rows:
                tx.conn.execute(insert(pipeline_steps), rows)

    def of_run(self, pipeline_id: str) -> dict[str, dict[str, Any]]:
        """{node: row}."""
        query = select(pipeline_steps).where(pipeline_steps.c.pipeline_id == pipeline_id)
        with self._db.read() as conn:
            return {row.node: dict(row._mapping) for row in conn.execute(query)}

    def change(self, pipeline_id: str, changes: dict[str, dict[str, Any]]) -> None:
        """{node: columns}, in one transaction; whoever looks at the pipeline is told."""
        if not changes:
            return
        with self._db.write() as tx:
            self._change(tx, pipeline_id, changes)

    def open_again(self, pipeline_id: str, changes: dict[str, dict[str, Any]], reason: str) -> None:
        """The same, and the run goes on, also when it was over: some of its steps are tried again."""
        with self._db.write() as tx:
            self._change(tx, pipeline_id, changes)
            set_status(tx, pipeline_id, RunStatus.RUNNING, reason, reopen=True)

    def _change(self, tx: Tx, pipeline_id: str, changes: dict[str, dict[str, Any]]) -> None:
        now = utc_now()
        for node, values in changes.items():
            this = (pipeline_steps.c.pipeline_id == pipeline_id) & (pipeline_steps.c.node == node)
            tx.conn.execute(update(pipeline_steps).where(this).values(changed_utc=now, **values))
        told = {node: values.get("phase") for node, values in changes.items()}
        write_event(tx, pipeline_id, "run", {"run": pipeline_id, "steps": told})

    def reuse(
        self, pipeline_id: str, node: str, change: dict[str, Any], spec: RunSpec, submitted_by: str, words: str
    ) -> None:
        """A step is what another run has made: its row, and a run of its own without a process, which is over at once and
        has the other's outputs. All in one transaction."""
        with self._db.write() as tx:
            self._change(tx, pipeline_id, {node: change})
            create_run(tx, spec, submitted_by)
            made = select(run_data).where(run_data.c.run_id == change["reused_from"], run_data.c.direction == "out")
            for row in tx.conn.execute(made).all():
                tx.conn.execute(insert(run_data).values(**{**row._mapping, "run_id": spec.run_id}))
            set_status(tx, spec.run_id, RunStatus.COMPLETED, words)

    def reusable(self, key: str, limit: int = 5) -> list[dict[str, Any]]:
        """Steps with this key whose runs have completed and are not deleted, the newest first; `run_id` is the run itself,
        never one that only reused it."""
        query = (
            select(pipeline_steps, runs.c.ended_utc)
            .join(runs, runs.c.id == pipeline_steps.c.run_id)
            .where(
                pipeline_steps.c.key == key,
                pipeline_steps.c.reused_from.is_(None),
                runs.c.status == RunStatus.COMPLETED.value,
                runs.c.deleted_utc.is_(None),
            )
            .order_by(runs.c.seq.desc())
            .limit(limit)
        )
        with self._db.read() as conn:
            return [dict(row._mapping) for row in conn.execute(query)]

    def last_of(self, origin: str, before_pipeline: str) -> Optional[dict[str, Any]]:
        """The latest step of another run of the same pipeline and node that has a key: what a new one is compared with."""
        query = (
            select(pipeline_steps)
            .where(
                pipeline_steps.c.origin == origin,
                pipeline_steps.c.key != "",
                pipeline_steps.c.pipeline_id != before_pipeline,
            )
            .order_by(pipeline_steps.c.changed_utc.desc())
            .limit(1)
        )
        with self._db.read() as conn:
            row = conn.execute(query).first()
        return None if row is None else dict(row._mapping)

    def statuses(self, run_ids: Iterable[str]) -> dict[str, str]:
        """{run: status} of those that exist."""
        wanted = list(run_ids)
        if not wanted:
            return {}
        with self._db.read() as conn:
            rows = conn.execute(select(runs.c.id, runs.c.status).where(runs.c.id.in_(wanted)))
            return {row.id: row.status for row in rows}

    def forget(self, pipeline_id: str) -> None:
        """Takes the rows of a run away."""
        with self._db.write() as tx:
            tx.conn.execute(delete(pipeline_steps).where(pipeline_steps.c.pipeline_id == pipeline_id))
