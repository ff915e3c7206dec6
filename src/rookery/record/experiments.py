"""Experiments: names under which runs are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from rookery.errors import ConflictError, ExperimentNotFoundError, UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.schema import experiments, runs
from rookery.record.text import clean_map
from rookery.spec.names import check_experiment_name, check_free_name, new_guid

__all__ = ["Experiments", "count_run", "ensure_experiment"]

VIEWS = ("active", "archived", "all")
_NAMED = select(experiments).where(experiments.c.name == bindparam("wanted"))
_COUNT = update(experiments).where(experiments.c.id == bindparam("row")).values(run_count=bindparam("count"))


class Experiments:
    def __init__(self, db: Database) -> None:
        self._db = db

    def ensure(self, name: str) -> dict[str, Any]:
        """The experiment, created if absent."""
        with self._db.write() as tx:
            return _plain(ensure_experiment(tx, name))

    def get(self, name: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _plain(_find(conn, name))

    def by_id(self, experiment_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            row = conn.execute(select(experiments).where(experiments.c.id == experiment_id)).first()
        if row is None:
            raise ExperimentNotFoundError(
                f"There is no experiment with the id '{experiment_id:.80}'. List them with `rookery experiments`."
            )
        return _plain(row)

    def create(self, name: str, tags: Optional[dict[str, Any]] = None, experiment_id: str = "") -> dict[str, Any]:
        """A new one, under a name that may be freer than ours; ConflictError when there is one."""
        check_free_name(name, "experiment")
        labels = clean_map(tags or {}, "tags")
        with self._db.write() as tx:
            if tx.conn.execute(select(experiments.c.id).where(experiments.c.name == name)).first():
                raise ConflictError(
                    f"Experiment '{name}' exists already. Choose another name.", details={"exists": True}
                )
            values = {"id": experiment_id or new_guid(), "name": name, "created_utc": utc_now(), "tags": labels}
            tx.conn.execute(insert(experiments).values(run_count=0, **values))
            return _plain(_find(tx.conn, name))

    def list(self, view: str = "active") -> list[dict[str, Any]]:
        """By name. `view` is active, archived or all."""
        if view not in VIEWS:
            raise UserError(f"view={view!r} does not exist. Known: {', '.join(VIEWS)}.")
        query = select(experiments).order_by(experiments.c.name)
        if view == "active":
            query = query.where(experiments.c.archived_utc.is_(None))
        elif view == "archived":
            query = query.where(experiments.c.archived_utc.is_not(None))
        with self._db.read() as conn:
            return [_plain(row) for row in conn.execute(query)]

    def change(
        self,
        name: str,
        *,
        tags: Optional[dict[str, Any]] = None,
        remove_tags: Optional[Sequence[str]] = None,
        archived: Optional[bool] = None,
        new_name: Optional[str] = None,
    ) -> dict[str, Any]:
        """Sets what is given, leaves the rest."""
        with self._db.write() as tx:
            row = _find(tx.conn, name)
            labels = {**row.tags, **clean_map(tags or {}, "tags")}
            values: dict[str, Any] = {"tags": {k: v for k, v in labels.items() if k not in set(remove_tags or [])}}
            if archived is not None:
                values["archived_utc"] = (row.archived_utc or utc_now()) if archived else None
            if new_name is not None and new_name != name:
                check_free_name(new_name, "experiment")
                if tx.conn.execute(select(experiments.c.id).where(experiments.c.name == new_name)).first():
                    raise ConflictError(f"Experiment '{new_name}' exists already. Choose another name.")
                values["name"] = new_name
            tx.conn.execute(update(experiments).where(experiments.c.id == row.id).values(**values))
            return _plain(_find(tx.conn, values.get("name", name)))

    def delete(self, name: str) -> None:
        """Removes an experiment without runs."""
        with self._db.write() as tx:
            row = _find(tx.conn, name)
            if tx.conn.execute(select(runs.c.seq).where(runs.c.experiment_id == row.id).limit(1)).first():
                raise ConflictError(
                    f"Experiment '{name}' has runs ({row.run_count}). Archive it instead of deleting it."
                )
            tx.conn.execute(delete(experiments).where(experiments.c.id == row.id))


def ensure_experiment(tx: Tx, name: str) -> Any:
    """The row of this name, inserted if absent."""
    found = tx.conn.execute(_NAMED, {"wanted": name}).first()
    if found is not None:
        return found
    check_experiment_name(name)
    tx.conn.execute(insert(experiments).values(id=new_guid(), name=name, created_utc=utc_now(), tags={}, run_count=0))
    return _find(tx.conn, name)


def count_run(tx: Tx, experiment: Any) -> int:
    """The number of the run that is being created."""
    tx.conn.execute(_COUNT, {"row": experiment.id, "count": experiment.run_count + 1})
    return int(experiment.run_count) + 1


def _find(conn: Connection, name: str) -> Any:
    row = conn.execute(_NAMED, {"wanted": name}).first()
    if row is None:
        raise ExperimentNotFoundError(f"Experiment '{name:.255}' does not exist. List them with `rookery experiments`.")
    return row


def _plain(row: Any) -> dict[str, Any]:
    return {key: getattr(row, key) for key in ("id", "name", "created_utc", "archived_utc", "tags", "run_count")}
