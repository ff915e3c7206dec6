"""What can happen to a run, each inside a transaction that somebody else has begun. Every one writes its event."""

from __future__ import annotations

from typing import Any, Optional

from sqlalchemy import delete, insert, select, update

from rookery.errors import ConflictError
from rookery.record.clock import from_unix, milliseconds, utc_now
from rookery.record.database import Tx
from rookery.record.events import merge_log_rows, merge_metric_rows, write_event
from rookery.record.experiments import count_run, ensure_experiment
from rookery.record.run_rows import run_row
from rookery.record.schema import logs, run_properties, run_tags, runs
from rookery.record.text import clean_map, clean_text
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import TERMINAL, RunStatus

__all__ = [
    "add_properties",
    "add_tags",
    "add_warning",
    "create_run",
    "end_children",
    "remember_error",
    "remove_tags",
    "rename",
    "set_status",
]

MAX_WARNINGS = 1000
MAX_WARNING = 10_000


def create_run(
    tx: Tx, spec: RunSpec, submitted_by: str, now: Optional[str] = None, began_ms: Optional[int] = None
) -> dict[str, Any]:
    """Inserts the run and its first event; returns its row. A child and an external one run at once: their process is there
    already."""
    now = now or utc_now()
    began = now if began_ms is None else from_unix(began_ms / 1000)
    tags, properties = clean_map(spec.tags, "tags"), clean_map(spec.properties, "properties")
    experiment = ensure_experiment(tx, spec.experiment)
    root_id = spec.run_id if spec.parent_id is None else run_row(tx.conn, spec.parent_id).root_id
    runs_already = spec.kind in (RunKind.CHILD, RunKind.EXTERNAL)
    status = RunStatus.RUNNING if runs_already else RunStatus.NOT_STARTED
    reason = "" if status == RunStatus.RUNNING else "waiting for the controller"
    row = {
        "id": spec.run_id,
        "experiment_id": experiment.id,
        "number": count_run(tx, experiment),
        "kind": spec.kind,
        "parent_id": spec.parent_id,
        "root_id": root_id,
        "display_name": clean_text(spec.display_name),
        "description": clean_text(spec.description),
        "status": status.value,
        "reason": reason,
        "attempt": 1,
        "compute": spec.compute,
        "target": spec.target or spec.compute,
        "created_utc": now,
        "started_utc": began if status == RunStatus.RUNNING else None,
        "submitted_by": clean_text(submitted_by),
        "spec": to_plain(spec),
        "warnings": [],
        "phases": [{"status": status.value, "since_utc": now, "reason": ""}],
        "snapshot_id": spec.snapshot_id,
        "began_ms": milliseconds(now) if began_ms is None else began_ms,
        "heard_utc": now if spec.kind == RunKind.EXTERNAL else None,
    }
    tx.conn.execute(_INSERT_RUN, [row])
    _insert_labels(tx, run_tags, spec.run_id, tags)
    _insert_labels(tx, run_properties, spec.run_id, properties)
    _status_event(tx, spec.run_id, status, reason, 1, now, None)
    return row


_INSERT_RUN = insert(runs)


def set_status(
    tx: Tx,
    run_id: str,
    status: RunStatus,
    reason: str = "",
    attempt: Optional[int] = None,
    error: Optional[dict[str, Any]] = None,
    more: Optional[dict[str, Any]] = None,
    reopen: bool = False,
) -> None:
    """Moves a run on; `more` are other columns to store with it. `reopen`: its program may take back that it is over.

    Raises:
        ConflictError: the run is over already and `status` is another one.
    """
    row = run_row(tx.conn, run_id)
    now = utc_now()
    old = RunStatus(row.status)
    if old in TERMINAL and status != old and not reopen:
        raise ConflictError(
            f"Run '{run_id}' is {old} already; it cannot become {status}.", details={"status": old.value}
        )
    values: dict[str, Any] = {}
    if attempt is not None:
        values["attempt"] = attempt
    if error is not None:
        values["error"] = error
    changed = status != old or reason != row.reason
    if changed:
        values.update(status=status.value, reason=reason, phases=_next_phases(row.phases, status, reason, now))
    if status == RunStatus.RUNNING and row.started_utc is None:
        values["started_utc"] = now
    ends = status in TERMINAL and status != old
    if ends:
        values["ended_utc"] = now
    elif status not in TERMINAL and old in TERMINAL:
        values["ended_utc"] = None
    values.update(more or {})
    if values:
        tx.conn.execute(update(runs).where(runs.c.id == run_id).values(**values))
    if changed:
        _status_event(
            tx, run_id, status, reason, attempt or row.attempt, now, error if error is not None else row.error
        )
    if ends:
        _tidy_events(tx, run_id)
        end_children(tx, run_id, status)


def end_children(tx: Tx, run_id: str, status: RunStatus) -> None:
    """Children live in the process of their parent, so they end with it. A submitted run below has a process
    of its own.
    """
    query = select(runs.c.id, runs.c.status).where(runs.c.parent_id == run_id, runs.c.kind == RunKind.CHILD)
    for child_id, child_status in tx.conn.execute(query).all():
        if RunStatus(child_status) in TERMINAL:
            end_children(tx, child_id, status)
            continue
        reason = "" if status == RunStatus.COMPLETED else f"its parent run '{run_id}' is {status}"
        set_status(tx, child_id, status, reason)


def add_tags(tx: Tx, run_id: str, tags: Any) -> None:
    """Sets tags; others stay."""
    wanted = clean_map(tags, "tags")
    if not wanted:
        return
    tx.conn.execute(delete(run_tags).where(run_tags.c.run_id == run_id, run_tags.c.key.in_(list(wanted))))
    _insert_labels(tx, run_tags, run_id, wanted)
    _tags_event(tx, run_id)


def remove_tags(tx: Tx, run_id: str, keys: list[str]) -> None:
    if keys:
        tx.conn.execute(
            delete(run_tags).where(run_tags.c.run_id == run_id, run_tags.c.key.in_([clean_text(k) for k in keys]))
        )
        _tags_event(tx, run_id)


def add_properties(tx: Tx, run_id: str, properties: Any) -> None:
    """Adds properties, which are written once.

    Raises:
        ConflictError: one of them exists with another value; then none is added.
    """
    wanted = clean_map(properties, "properties")
    query = select(run_properties.c.key, run_properties.c.value).where(run_properties.c.run_id == run_id)
    have = {row.key: row.value for row in tx.conn.execute(query)}
    for key, value in wanted.items():
        if key in have and have[key] != value:
            raise ConflictError(
                f"Property '{key}' of run '{run_id}' is {have[key]!r} already and properties are "
                "written once. Use a tag for what changes.",
                details={"property": key, "value": have[key]},
            )
    new = {key: value for key, value in wanted.items() if key not in have}
    if new:
        _insert_labels(tx, run_properties, run_id, new)
        write_event(tx, run_id, "run", {"run": run_id, "properties": {**have, **new}})


def rename(tx: Tx, run_id: str, names: dict[str, Any]) -> None:
    """Sets display_name and description, where given."""
    values = {key: clean_text(names[key]) for key in ("display_name", "description") if names.get(key) is not None}
    if values:
        tx.conn.execute(update(runs).where(runs.c.id == run_id).values(**values))
        write_event(tx, run_id, "run", {"run": run_id, **values})


def add_warning(tx: Tx, run_id: str, text: str) -> None:
    """A sentence to show with the run; the same one twice is shown once."""
    sentence = clean_text(str(text)[:MAX_WARNING])
    row = run_row(tx.conn, run_id)
    if sentence in row.warnings or len(row.warnings) >= MAX_WARNINGS:
        return
    tx.conn.execute(update(runs).where(runs.c.id == run_id).values(warnings=[*row.warnings, sentence]))
    write_event(tx, run_id, "warning", {"run": run_id, "text": sentence})


def remember_error(tx: Tx, run_id: str, cause: dict[str, Any]) -> None:
    """Keeps a cause without touching the status (v1's in-run `fail`)."""
    tx.conn.execute(update(runs).where(runs.c.id == run_id).values(error=cause))
    write_event(tx, run_id, "run", {"run": run_id, "error": cause})


def _insert_labels(tx: Tx, table: Any, run_id: str, labels: dict[str, Optional[str]]) -> None:
    if labels:
        tx.conn.execute(
            insert(table), [{"run_id": run_id, "key": key, "value": value} for key, value in labels.items()]
        )


def _tags_event(tx: Tx, run_id: str) -> None:
    query = select(run_tags.c.key, run_tags.c.value).where(run_tags.c.run_id == run_id).order_by(run_tags.c.key)
    write_event(tx, run_id, "run", {"run": run_id, "tags": {row.key: row.value for row in tx.conn.execute(query)}})


def _status_event(tx: Tx, run_id: str, status: RunStatus, reason: str, attempt: int, now: str, error: Any) -> None:
    data = {
        "run": run_id,
        "status": status.value,
        "reason": reason,
        "attempt": attempt,
        "time": now,
        "error": error,
    }
    write_event(tx, run_id, "status", data)


def _next_phases(phases: list[dict[str, Any]], status: RunStatus, reason: str, now: str) -> list[dict[str, Any]]:
    if phases and phases[-1]["status"] == status.value:
        # A queue's reason changes often; the phase is still the same one.
        return [*phases[:-1], {**phases[-1], "reason": reason}]
    return [*phases, {"status": status.value, "since_utc": now, "reason": reason}]


def _tidy_events(tx: Tx, run_id: str) -> None:
    for (name,) in tx.conn.execute(select(logs.c.name).where(logs.c.run_id == run_id)).all():
        merge_log_rows(tx, run_id, name)
    merge_metric_rows(tx, run_id)
