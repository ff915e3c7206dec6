"""What happened elsewhere and is brought here: experiments and runs with the ids, states and times that they have there.

Models are `past_models.py`'s. Everything here may be called again: what is missing is added, what is there stays as it is.
Nobody is told of it as of news (no `status` event, hence no webhook): it is long over.
"""

from __future__ import annotations

from typing import Any, Optional

from sqlalchemy import delete, func, insert, select, update

from rookery.errors import ConflictError, UserError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.inputs import add_inputs
from rookery.record.metric_batch import MetricBatch
from rookery.record.metric_values import Chunk
from rookery.record.params import add_params
from rookery.record.run_rows import run_row
from rookery.record.run_steps import add_tags, create_run
from rookery.record.schema import artifacts, events, experiments, metrics, run_tags, runs
from rookery.record.schema_tracking import run_inputs, run_params
from rookery.record.text import clean_map, clean_name, clean_text
from rookery.spec.names import check_free_name, check_run_id, new_guid
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["Past"]


class Past:
    """Promises: each call is one transaction; the same call again changes nothing."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add_experiment(self, body: dict[str, Any]) -> dict[str, Any]:
        """`name`, `tags`, `created_ms`, `archived`. Of one that is there only missing tags are added."""
        name = check_free_name(body.get("name"), "experiment")
        tags = clean_map(body.get("tags") or {}, "tags")
        with self._db.write() as tx:
            row = tx.conn.execute(select(experiments).where(experiments.c.name == name)).first()
            if row is None:
                values = {
                    "id": new_guid(),
                    "name": name,
                    "created_utc": _moment(body.get("created_ms")) or utc_now(),
                    "archived_utc": utc_now() if body.get("archived") else None,
                    "tags": tags,
                }
                tx.conn.execute(insert(experiments).values(run_count=0, **values))
                return {**values, "is_new": True}
            merged = {**tags, **row.tags}
            if merged != row.tags:
                tx.conn.execute(update(experiments).where(experiments.c.id == row.id).values(tags=merged))
            return {"id": row.id, "name": name, "tags": merged, "is_new": False}

    def add_run(self, body: dict[str, Any]) -> dict[str, Any]:
        """`run_id`, `experiment` (which must be there), `display_name`, `description`, `user`, `status`, `began_ms`, `ended_ms`,
        `deleted`, `parent_id`, `tags`, `params`, `inputs`. Of a run that is there what is missing is added, and the end taken
        over where it has none yet. Returns how many of the given it has now, and how many values and files.

        Raises:
            ConflictError: the id is that of a run which was not brought here, or a parameter has another value.
        """
        run_id = check_run_id(body.get("run_id"))
        status = _status(body.get("status"))
        tags, params = clean_map(body.get("tags") or {}, "tags"), clean_map(body.get("params") or {}, "params")
        with self._db.write() as tx:
            row = tx.conn.execute(select(runs).where(runs.c.id == run_id)).first()
            if row is None:
                self._create(tx, run_id, status, tags, body)
            elif row.kind != RunKind.EXTERNAL:
                raise ConflictError(
                    f"Run '{run_id}' exists already and is a {row.kind} run of this workspace. It is left as it is."
                )
            else:
                have = {key for (key,) in tx.conn.execute(select(run_tags.c.key).where(run_tags.c.run_id == run_id))}
                missing = {key: value for key, value in tags.items() if key not in have}
                if missing:
                    add_tags(tx, run_id, missing)
                if status.is_terminal and not RunStatus(row.status).is_terminal:
                    _end(tx, run_id, status, body, row.phases)
            add_params(tx, run_id, params)
            add_inputs(tx, run_id, body.get("inputs") or [])
            return {"is_new": row is None, **_counts(tx, run_id, tags, params)}

    def count_run(self, run_id: str, tags: list[str], params: list[str]) -> dict[str, Any]:
        """How many of these it has, and how many inputs, values by metric, files and bytes."""
        with self._db.write() as tx:  # one moment, after everything that is being written
            run_row(tx.conn, run_id)
            return _counts(tx, run_id, dict.fromkeys(tags), dict.fromkeys(params))

    def add_values(self, run_id: str, named: list[tuple[str, int, Chunk]]) -> dict[str, int]:
        """(metric, how many values it must have before, values). What is there already is not added again.

        Raises:
            ConflictError: a metric has another number of values (details: name, count).
        """
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            have = _values(tx, run_id)
            batch = MetricBatch()
            for name, start, chunk in named:
                clean_name(name, "A metric's name")
                count = have.get(name, 0)
                if count == start + chunk.count:
                    continue  # the answer was lost, not the values
                if count != start:
                    raise ConflictError(
                        f"Metric '{name:.80}' of run '{run_id}' has {count} values, not {start}. Look at it again.",
                        details={"name": name, "count": count},
                    )
                batch.add(run_id, name, "scalar", chunk)
            batch.write(tx)
            if batch.refused:
                raise UserError(batch.refused[0][1])
            return _values(tx, run_id)

    def _create(self, tx: Tx, run_id: str, status: RunStatus, tags: dict[str, Any], body: dict[str, Any]) -> None:
        name = clean_name(body.get("experiment"), "The experiment")
        if tx.conn.execute(select(experiments.c.id).where(experiments.c.name == name)).first() is None:
            raise UserError(f"Experiment '{name}' is not here yet. Bring it first.")
        parent = body.get("parent_id")
        if parent and tx.conn.execute(select(runs.c.id).where(runs.c.id == parent)).first() is None:
            parent = None  # deleted for good where it comes from
        spec = RunSpec(
            run_id=run_id,
            experiment=name,
            kind=RunKind.EXTERNAL,
            parent_id=parent or None,
            display_name=clean_text(body.get("display_name") or ""),
            description=clean_text(body.get("description") or ""),
            compute="external",
            tags=tags,
        )
        began = _int(body.get("began_ms"), "began_ms")
        create_run(tx, spec, clean_text(body.get("user") or ""), _moment(began), began)
        if status != RunStatus.RUNNING:
            _end(tx, run_id, status, body, run_row(tx.conn, run_id).phases)
        if body.get("deleted"):
            gone = _moment(body.get("deleted_ms")) or utc_now()
            tx.conn.execute(update(runs).where(runs.c.id == run_id).values(deleted_utc=gone))
            tx.memory.forget(run_id)
        tx.conn.execute(delete(events).where(events.c.run_id == run_id, events.c.kind == "status"))
        write_event(tx, run_id, "run", {"run": run_id, "brought": True})


def _end(tx: Tx, run_id: str, status: RunStatus, body: dict[str, Any], phases: list[Any]) -> None:
    """The status as it is there, with its own time. Not `set_status`: that tells it as news."""
    ended = _moment(_int(body.get("ended_ms"), "ended_ms")) if status.is_terminal else None
    since = ended or _moment(body.get("began_ms")) or utc_now()
    values = {
        "status": status.value,
        "ended_utc": (ended or since) if status.is_terminal else None,
        "phases": [*phases, {"status": status.value, "since_utc": since, "reason": ""}],
    }
    tx.conn.execute(update(runs).where(runs.c.id == run_id).values(**values))
    write_event(tx, run_id, "run", {"run": run_id, "status": status.value})


def _counts(tx: Tx, run_id: str, tags: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    def present(table: Any, wanted: dict[str, Any]) -> int:
        found = {key for (key,) in tx.conn.execute(select(table.c.key).where(table.c.run_id == run_id))}
        return len(found & set(wanted))

    counted = select(func.count()).select_from(run_inputs).where(run_inputs.c.run_id == run_id)
    files = select(func.count(), func.coalesce(func.sum(artifacts.c.size), 0)).where(artifacts.c.run_id == run_id)
    number, size = tx.conn.execute(files).one()
    return {
        "tags": present(run_tags, tags),
        "params": present(run_params, params),
        "inputs": int(tx.conn.execute(counted).scalar() or 0),
        "values": _values(tx, run_id),
        "files": int(number),
        "bytes": int(size),
    }


def _values(tx: Tx, run_id: str) -> dict[str, int]:
    query = select(metrics.c.name, metrics.c.total).where(metrics.c.run_id == run_id)
    return {name: int(total) for name, total in tx.conn.execute(query)}


def _status(given: Any) -> RunStatus:
    try:
        return RunStatus(given)
    except ValueError:
        known = ", ".join(status.value for status in RunStatus)
        raise UserError(f"Status {given!r:.40} does not exist. Known: {known}.") from None


def _int(value: Any, what: str) -> Optional[int]:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise UserError(f"{what}={value!r:.40} must be unix milliseconds.")
    return value


def _moment(milliseconds: Any) -> Optional[str]:
    return None if milliseconds is None else from_unix((_int(milliseconds, "A time") or 0) / 1000)
