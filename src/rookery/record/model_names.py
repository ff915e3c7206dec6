"""The names of the registry: what is true of a model whatever its version. Versions are `models.py`'s."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, delete, func, insert, select, update

from rookery.errors import ConflictError, ModelNotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.models import find_version, plain_versions, tell_model_change
from rookery.record.schema import model_files, model_names, models
from rookery.record.text import clean_map, clean_text
from rookery.spec.names import check_free_name

__all__ = ["ModelNames"]


class ModelNames:
    """Promises: a name may be there without versions; an alias points to a version that exists."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(self, name: str, description: str = "", tags: Optional[dict[str, Any]] = None) -> dict[str, Any]:
        check_free_name(name, "model")
        with self._db.write() as tx:
            if tx.conn.execute(select(model_names.c.name).where(model_names.c.name == name)).first():
                raise ConflictError(f"Model '{name}' exists already. Choose another name.", details={"exists": True})
            now = utc_now()
            tx.conn.execute(
                insert(model_names).values(
                    name=name, last_version=0, created_utc=now, modified_utc=now, description=clean_text(description),
                    tags=clean_map(tags or {}, "tags"), aliases={},
                )
            )  # fmt: skip
            tell_model_change(tx, name, "changed")
            return _plain(tx.conn, _find(tx.conn, name))

    def get(self, name: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _plain(conn, _find(conn, name))

    def list(self) -> list[dict[str, Any]]:
        """All, by name."""
        with self._db.read() as conn:
            return [_plain(conn, row) for row in conn.execute(select(model_names).order_by(model_names.c.name)).all()]

    def overview(self, limit: int) -> builtins.list[dict[str, Any]]:
        """Every name with how many versions it has and its newest, last changed first; no files."""
        versions: dict[str, builtins.list[Any]] = {}
        columns = (models.c.name, models.c.version, models.c.created_utc, models.c.run_id, models.c.facts)
        with self._db.read() as conn:
            names = conn.execute(select(model_names)).all()
            for row in conn.execute(select(*columns).order_by(models.c.version)):
                found = versions.setdefault(row.name, [0, None])
                found[0], found[1] = found[0] + 1, row
        told = []
        for name in names:
            count, newest = versions.get(name.name, [0, None])
            told.append(
                {
                    "name": name.name,
                    "description": name.description or "",
                    "tags": name.tags or {},
                    "aliases": name.aliases or {},
                    "created_utc": name.created_utc or (newest.created_utc if newest else ""),
                    "modified_utc": name.modified_utc or (newest.created_utc if newest else ""),
                    "versions": count,
                    "latest": None
                    if newest is None
                    else {
                        "version": newest.version,
                        "stage": newest.facts.get("stage"),
                        "description": str(newest.facts.get("description") or ""),
                        "run_id": newest.run_id,
                        "created_utc": newest.created_utc,
                    },
                }
            )
        return sorted(told, key=lambda one: one["modified_utc"], reverse=True)[:limit]

    def change(
        self,
        name: str,
        *,
        description: Optional[str] = None,
        tags: Optional[dict[str, Any]] = None,
        remove_tags: Sequence[str] = (),
    ) -> dict[str, Any]:
        with self._db.write() as tx:
            row = _find(tx.conn, name)
            labels = {**(row.tags or {}), **clean_map(tags or {}, "tags")}
            values: dict[str, Any] = {
                "tags": {k: v for k, v in labels.items() if k not in set(remove_tags)},
                "modified_utc": utc_now(),
            }
            if description is not None:
                values["description"] = clean_text(description)
            tx.conn.execute(update(model_names).where(model_names.c.name == name).values(**values))
            tell_model_change(tx, name, "changed")
            return _plain(tx.conn, _find(tx.conn, name))

    def rename(self, name: str, new_name: str) -> dict[str, Any]:
        check_free_name(new_name, "model")
        with self._db.write() as tx:
            row = _find(tx.conn, name)
            if tx.conn.execute(select(model_names.c.name).where(model_names.c.name == new_name)).first():
                raise ConflictError(
                    f"Model '{new_name}' exists already. Choose another name.", details={"exists": True}
                )
            values = {**row._mapping, "name": new_name, "modified_utc": utc_now()}
            tx.conn.execute(insert(model_names).values(**values))
            tx.conn.execute(update(models).where(models.c.name == name).values(name=new_name))
            tx.conn.execute(delete(model_names).where(model_names.c.name == name))
            tell_model_change(tx, name, "deleted")
            tell_model_change(tx, new_name, "changed")
            return _plain(tx.conn, _find(tx.conn, new_name))

    def delete(self, name: str) -> None:
        """The name with all of its versions."""
        with self._db.write() as tx:
            _find(tx.conn, name)
            versions = select(models.c.seq).where(models.c.name == name)
            tx.conn.execute(delete(model_files).where(model_files.c.model_seq.in_(versions)))
            tx.conn.execute(delete(models).where(models.c.name == name))
            tx.conn.execute(delete(model_names).where(model_names.c.name == name))
            tell_model_change(tx, name, "deleted")

    def set_alias(self, name: str, alias: str, version: Optional[int]) -> None:
        """Points an alias to a version; None takes it away."""
        with self._db.write() as tx:
            row = _find(tx.conn, name)
            aliases = {key: value for key, value in (row.aliases or {}).items() if key != alias}
            if version is not None:
                aliases[alias] = find_version(tx.conn, name, version).version
            tx.conn.execute(update(model_names).where(model_names.c.name == name).values(aliases=aliases))
            tell_model_change(tx, name, "changed", version)


def _find(conn: Connection, name: str) -> Any:
    row = conn.execute(select(model_names).where(model_names.c.name == name)).first()
    if row is None:
        raise ModelNotFoundError(f"Model '{name:.255}' does not exist. List them with `rookery models list`.")
    return row


def _plain(conn: Connection, row: Any) -> dict[str, Any]:
    """With its newest version of every stage (`latest`), which is how many a person wants to see."""
    query = select(models).where(models.c.name == row.name).order_by(models.c.version.desc())
    newest: dict[str, Any] = {}
    for version in conn.execute(query):
        newest.setdefault(version.facts.get("stage") or "None", version)
    first = conn.execute(select(func.min(models.c.created_utc)).where(models.c.name == row.name)).scalar()
    created = row.created_utc or first or ""
    return {
        "name": row.name,
        "created_utc": created,
        "modified_utc": row.modified_utc or created,
        "description": row.description or "",
        "tags": row.tags or {},
        "aliases": row.aliases or {},
        "latest": plain_versions(conn, list(newest.values())),
    }
