"""Runs: what was asked, where it stands, what it was called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from sqlalchemy import Text, select, type_coerce, update

from rookery.errors import ConflictError, RunConfigError, RunNotFoundError
from rookery.record.database import Database, Tx
from rookery.record.environments import Environments
from rookery.record.external import is_stale
from rookery.record.run_queries import RunFilter, children_of, is_within, page_of_runs
from rookery.record.run_rows import load_run, plain_runs, run_columns, run_row
from rookery.record.run_steps import (
    add_properties,
    add_tags,
    add_warning,
    create_run,
    remember_error,
    remove_tags,
    rename,
    set_status,
)
from rookery.record.schema import runs
from rookery.record.secrets import Secrets, run_owner
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import ACTIVE, RunStatus

__all__ = ["LiveRow", "Runs"]


class LiveRow(NamedTuple):
    """A run that has an agent or will have one; `spec` and `state` are JSON, as they lie in the table."""

    id: str
    kind: str
    parent_id: Optional[str]
    attempt: int
    spec: str
    state: Optional[str]


class Runs:
    """Promises: every change is one transaction with its event row; a terminal status is never left."""

    def __init__(self, db: Database, environments: Environments, secrets: Secrets, stale_s: float = 900.0) -> None:
        self._db, self._environments, self._secrets = db, environments, secrets
        self._stale_s = stale_s

    def create(
        self, spec: RunSpec, submitted_by: str, secret_values: Optional[dict[str, str]] = None
    ) -> tuple[dict[str, Any], bool]:
        """(the Run, whether it is new). The same id with the same spec again returns what is there.

        secret_values: of the variables that `spec.secrets` names. One that is not given is taken from the registered
        environment of the run.

        Raises:
            ConflictError: the id is taken by a run with another spec.
            RunConfigError: a secret variable has no value.
            RunNotFoundError: the parent does not exist.
        """
        with self._db.write() as tx:
            existing = tx.conn.execute(select(runs.c.spec).where(runs.c.id == spec.run_id)).first()
            if existing is None:
                create_run(tx, spec, submitted_by)
                self._keep_secrets(tx, spec, secret_values or {})
            elif existing.spec != to_plain(spec):
                raise ConflictError(
                    f"Run '{spec.run_id}' exists already with another specification. Choose another run id."
                )
            return load_run(tx.conn, spec.run_id), existing is None

    def _keep_secrets(self, tx: Tx, spec: RunSpec, given: dict[str, str]) -> None:
        others = [name for name in given if name not in spec.secrets]
        if others:
            raise RunConfigError(f"A value was given for '{others[0]}', which is no secret variable of the run.")
        if not spec.secrets:
            return
        software = spec.environment
        values = {**self._environments.secret_values(tx.conn, software.name, software.version), **given}
        missing = [name for name in spec.secrets if name not in values]
        if missing:
            raise RunConfigError(
                f"The secret variable '{missing[0]}' has no value here. Set it again: "
                f"environment_variables['{missing[0]}'] = Secret('…')."
            )
        self._secrets.write(tx, run_owner(spec.run_id), {name: values[name] for name in spec.secrets})

    def get(self, run_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return self._marked(load_run(conn, run_id))

    def _marked(self, run: dict[str, Any]) -> dict[str, Any]:
        """With `stale`: of an external run, whether its program has been silent for too long."""
        run["stale"] = is_stale(run, self._stale_s)
        return run

    def find(self, run_id: str) -> Optional[dict[str, Any]]:
        """The Run, or None."""
        with self._db.read() as conn:
            try:
                return self._marked(load_run(conn, run_id))
            except RunNotFoundError:
                return None

    def check_exists(self, run_id: str) -> None:
        """Raises RunNotFoundError when there is no such run."""
        with self._db.read() as conn:
            run_row(conn, run_id)

    def state(self, run_id: str) -> Optional[dict[str, Any]]:
        """The controller's private data."""
        with self._db.read() as conn:
            return run_row(conn, run_id).state

    def live(self) -> list[tuple[dict[str, Any], Optional[dict[str, Any]]]]:
        """(Run, state) of every run that is not over and ours to care for, oldest first."""
        query = (
            run_columns()
            .add_columns(runs.c.state)
            .where(runs.c.status.in_([s.value for s in ACTIVE]), runs.c.kind != RunKind.EXTERNAL)
            .order_by(runs.c.seq)
        )
        with self._db.read() as conn:
            rows = conn.execute(query).all()
            return list(zip(plain_runs(conn, rows), [row.state for row in rows]))

    def to_take_up(self) -> list[LiveRow]:
        """The same for a keeper that starts, where they may be very many: only what it needs of each, and that as text."""
        text = [type_coerce(runs.c.spec, Text), type_coerce(runs.c.state, Text)]
        query = (
            select(runs.c.id, runs.c.kind, runs.c.parent_id, runs.c.attempt, *text)
            .where(
                runs.c.status.in_([s.value for s in ACTIVE]),
                runs.c.kind.not_in([RunKind.EXTERNAL, RunKind.CHILD, *RunKind.DRIVEN]),
            )
            .order_by(runs.c.seq)
        )
        with self._db.read() as conn:
            return [LiveRow(*row) for row in conn.execute(query)]

    def driven(self, kind: str) -> list[str]:
        """The ids of the runs of a driven kind that are not over, oldest first."""
        active = runs.c.status.in_([s.value for s in ACTIVE])
        with self._db.read() as conn:
            return list(conn.scalars(select(runs.c.id).where(active, runs.c.kind == kind).order_by(runs.c.seq)))

    def kind(self, run_id: str) -> str:
        """Who owns its process (`RunKind`), or RunNotFoundError."""
        with self._db.read() as conn:
            found = conn.scalar(select(runs.c.kind).where(runs.c.id == run_id))
            return found if found is not None else run_row(conn, run_id).kind

    def advance(
        self,
        run_id: str,
        *,
        status: RunStatus,
        reason: str = "",
        attempt: Optional[int] = None,
        state: Optional[dict[str, Any]] = None,
        error: Optional[dict[str, Any]] = None,
        warnings: Optional[list[str]] = None,
        answer: bool = True,
    ) -> dict[str, Any]:
        """Moves a run on, with the controller's state, in one transaction. Arguments that are None leave what
        is stored. Without `answer` the run is not read again, which takes as long as all the rest.

        Raises:
            ConflictError: the run is over already.
        """
        with self._db.write() as tx:
            for text in warnings or []:
                add_warning(tx, run_id, text)
            more = {} if state is None else {"state": state}
            set_status(tx, run_id, RunStatus(status), reason, attempt, error, more)
            return load_run(tx.conn, run_id) if answer else {}

    def note_reasons(self, reasons: Mapping[str, tuple[RunStatus, str]]) -> None:
        """Why runs wait: {run: (its status, the reason)}, in one transaction. A run that is in another status by now, or
        gone, is left as it is."""
        with self._db.write() as tx:
            query = select(runs.c.id, runs.c.status).where(runs.c.id.in_(list(reasons)))
            now = {row.id: row.status for row in tx.conn.execute(query)}
            for run_id, (status, reason) in reasons.items():
                if now.get(run_id) == status.value:
                    set_status(tx, run_id, status, reason)

    def warn(self, run_id: str, text: str) -> None:
        with self._db.write() as tx:
            add_warning(tx, run_id, text)

    def set_error(self, run_id: str, cause: dict[str, Any]) -> None:
        """Remembers a cause without changing the status; a later Failed without a cause of its own shows it."""
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            remember_error(tx, run_id, cause)

    def set_state(self, run_id: str, state: dict[str, Any]) -> None:
        """Stores the controller's private data and nothing else."""
        with self._db.write() as tx:
            tx.conn.execute(update(runs).where(runs.c.id == run_id).values(state=state))

    def change(
        self,
        run_id: str,
        *,
        names: Optional[dict[str, Any]] = None,
        tags: Optional[dict[str, Any]] = None,
        remove: Optional[list[str]] = None,
        properties: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """What PATCH does: all of it or, on a conflict, nothing."""
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            add_properties(tx, run_id, properties or {})
            add_tags(tx, run_id, tags or {})
            remove_tags(tx, run_id, remove or [])
            rename(tx, run_id, names or {})
            return load_run(tx.conn, run_id)

    def page(
        self, wanted: RunFilter, limit: int = 100, cursor: Optional[str] = None
    ) -> tuple[list[dict[str, Any]], Optional[str]]:
        with self._db.read() as conn:
            found, following = page_of_runs(conn, wanted, limit, cursor)
        return [self._marked(run) for run in found], following

    def children(
        self, run_id: str, recursive: bool = False, wanted: Optional[RunFilter] = None
    ) -> list[dict[str, Any]]:
        with self._db.read() as conn:
            return [self._marked(run) for run in children_of(conn, run_id, recursive, wanted or RunFilter())]

    def is_within(self, run_id: str, ancestor: str) -> bool:
        """Whether `run_id` is `ancestor` or below it."""
        with self._db.read() as conn:
            return is_within(conn, run_id, ancestor)
