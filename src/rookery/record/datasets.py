"""Data sets: definitions by their id, and the versions that are registered under names."""

from __future__ import annotations

import difflib
import time
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, delete, func, insert, select, update

from rookery.errors import ConflictError, DatasetNotFoundError, UserError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.schema_data import data_definitions, data_names, data_versions, run_data
from rookery.record.text import clean_map, clean_text
from rookery.spec.data_definition import check_data_name, check_definition, definition_id
from rookery.spec.manifest import Manifest

__all__ = ["Datasets"]

TOUCHED_S = 3600.0  # a definition that is saved again is made young so often at most


class Datasets:
    """Promises: a definition never changes; a version never means another definition; numbers are not given again."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # -- definitions

    def save(self, definition: Any, created_by: str) -> dict[str, Any]:
        """Keeps a definition; the same one again is the same."""
        plain = check_definition(definition)
        with self._db.write() as tx:
            return {"id": save_definition(tx, plain, created_by), "definition": plain}

    def definition(self, found_id: str) -> dict[str, Any]:
        """One that was saved."""
        with self._db.read() as conn:
            found = conn.execute(
                select(data_definitions.c.definition).where(data_definitions.c.id == found_id)
            ).scalar()
        if found is None:
            raise DatasetNotFoundError(f"There is no data set with the id '{found_id!s:.80}' in this workspace.")
        return dict(found)

    # -- versions

    def register(
        self,
        body: dict[str, Any],
        manifest: Optional[Manifest],
        created_by: str,
        run_id: Optional[str] = None,
        output: str = "",
    ) -> dict[str, Any]:
        """`name`, `definition_id`, `description`, `tags`, `create_new_version`.

        Registering what the latest version is already, with create_new_version or without, gives that version.

        Raises:
            ConflictError: the name has another definition, and create_new_version is not set.
        """
        name = check_data_name(body.get("name"))
        tags = clean_map(body.get("tags") or {}, "tags")
        description = clean_text(body.get("description") or "", "description", 5000)
        now = utc_now()
        with self._db.write() as tx:
            wanted = str(body.get("definition_id"))
            _require_definition(tx.conn, wanted)
            latest = _latest(tx.conn, name)
            fingerprint = manifest.fingerprint if manifest else ""
            if (
                latest is not None
                and (latest.definition_id, latest.fingerprint) == (wanted, fingerprint)
                and not output
            ):
                return _plain(tx.conn, latest)
            if latest is not None and not body.get("create_new_version") and not output:
                raise ConflictError(
                    f"A data set called '{name}' is registered already (version {latest.version}). Give "
                    "create_new_version=True to add a version, or another name."
                )
            version = self._next_version(tx, name, now)
            values = {
                "name": name,
                "version": version,
                "definition_id": wanted,
                "manifest_id": manifest.id if manifest else None,
                "fingerprint": fingerprint,
                "files": manifest.files if manifest else 0,
                "bytes": manifest.bytes if manifest else 0,
                "description": description,
                "tags": tags,
                "created_utc": now,
                "created_by": clean_text(created_by),
                "run_id": run_id,
                "output": output,
            }
            tx.conn.execute(insert(data_versions).values(**values))
            write_event(tx, None, "dataset", {"name": name, "version": version, "run_id": run_id}, name)
            return _plain(tx.conn, _find(tx.conn, name, version))

    def get(self, name: str, version: Optional[int] = None) -> dict[str, Any]:
        """This version, or the latest."""
        with self._db.read() as conn:
            return _plain(conn, _find(conn, name, version))

    def list(self, name: Optional[str] = None, tags: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The latest version of every name, the newest first; with a name all of its versions."""
        with self._db.read() as conn:
            query = select(data_versions).order_by(data_versions.c.seq.desc())
            if name is not None:
                _find(conn, name, None)
                query = query.where(data_versions.c.name == name)
            else:
                last = select(func.max(data_versions.c.version).label("version"), data_versions.c.name.label("name"))
                newest = last.group_by(data_versions.c.name).subquery()
                query = query.join(
                    newest,
                    (newest.c.name == data_versions.c.name) & (newest.c.version == data_versions.c.version),
                )
            rows = [row for row in conn.execute(query) if _has(row.tags, tags)]
            return [_plain(conn, row) for row in rows]

    def change(self, name: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        """`description`, `tags` (added), `remove_tags`, `replace_tags`."""
        with self._db.write() as tx:
            row = _find(tx.conn, name, version)
            given = clean_map(body.get("tags") or {}, "tags")
            tags = {**({} if body.get("replace_tags") else row.tags), **given}
            values: dict[str, Any] = {
                "tags": {k: v for k, v in tags.items() if k not in (body.get("remove_tags") or ())}
            }
            if body.get("description") is not None:
                values["description"] = clean_text(body["description"], "description", 5000)
            tx.conn.execute(update(data_versions).where(data_versions.c.seq == row.seq).values(**values))
            write_event(tx, None, "dataset", {"name": name, "version": row.version}, name)
            return _plain(tx.conn, _find(tx.conn, name, version))

    def delete(self, name: str, version: Optional[int] = None) -> None:
        """Forgets a version, or all of a name. Files stay, and so does what runs say of them."""
        with self._db.write() as tx:
            row = _find(tx.conn, name, version)
            which = data_versions.c.name == name if version is None else data_versions.c.seq == row.seq
            tx.conn.execute(delete(data_versions).where(which))
            write_event(tx, None, "dataset", {"name": name, "version": version, "deleted": True}, name)

    def _next_version(self, tx: Tx, name: str, now: str) -> int:
        last = tx.conn.execute(select(data_names.c.last_version).where(data_names.c.name == name)).scalar()
        if last is None:
            tx.conn.execute(insert(data_names).values(name=name, last_version=1, created_utc=now, modified_utc=now))
            return 1
        changed = {"last_version": last + 1, "modified_utc": now}
        tx.conn.execute(update(data_names).where(data_names.c.name == name).values(**changed))
        return int(last) + 1


def save_definition(tx: Tx, plain: dict[str, Any], created_by: str) -> str:
    """The step inside a transaction; `plain` is checked."""
    found_id = definition_id(plain)
    this = data_definitions.c.id == found_id
    made = tx.conn.execute(select(data_definitions.c.created_utc).where(this)).scalar()
    if made is not None and made < from_unix(time.time() - TOUCHED_S):
        tx.conn.execute(update(data_definitions).where(this).values(created_utc=utc_now()))  # `rookery gc` looks at it
    if made is None:
        tx.conn.execute(
            insert(data_definitions).values(
                id=found_id,
                kind=plain["kind"],
                definition=plain,
                created_utc=utc_now(),
                created_by=clean_text(created_by),
            )
        )
    return found_id


def _require_definition(conn: Connection, found_id: str) -> None:
    if not conn.execute(select(data_definitions.c.id).where(data_definitions.c.id == found_id)).first():
        raise UserError(f"There is no definition '{found_id:.80}'. Save it first with POST /data/definitions.")


def _latest(conn: Connection, name: str) -> Any:
    query = select(data_versions).where(data_versions.c.name == name)
    return conn.execute(query.order_by(data_versions.c.version.desc()).limit(1)).first()


def _find(conn: Connection, name: str, version: Optional[int]) -> Any:
    query = select(data_versions).where(data_versions.c.name == name)
    if version is not None:
        query = query.where(data_versions.c.version == version)
    row = conn.execute(query.order_by(data_versions.c.version.desc()).limit(1)).first()
    if row is None:
        what = f"'{name!s:.255}'" if version is None else f"'{name!s:.255}' version {version}"
        known = [n for (n,) in conn.execute(select(data_versions.c.name).distinct())]
        if name in known:
            of_name = select(data_versions.c.version).where(data_versions.c.name == name)
            numbers = sorted(v for (v,) in conn.execute(of_name))
            hint = f"Its versions: {', '.join(map(str, numbers[-20:]))}."
        else:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = (f"Did you mean '{near[0]}'? " if near else "") + "List them with `rookery data list`."
        raise DatasetNotFoundError(f"Data set {what} does not exist. {hint}")
    return row


def _plain(conn: Connection, row: Any) -> dict[str, Any]:
    definition = conn.execute(
        select(data_definitions.c.definition).where(data_definitions.c.id == row.definition_id)
    ).scalar_one()
    used = select(func.count(func.distinct(run_data.c.run_id))).where(
        run_data.c.direction == "in", run_data.c.data_name == row.name, run_data.c.data_version == row.version
    )
    latest = _latest(conn, row.name)
    return {
        "name": row.name,
        "version": row.version,
        "id": row.definition_id,
        "kind": definition["kind"],
        "definition": definition,
        "description": row.description,
        "tags": row.tags,
        "files": row.files,
        "bytes": row.bytes,
        "fingerprint": row.fingerprint,
        "manifest_id": row.manifest_id,
        "created_utc": row.created_utc,
        "created_by": row.created_by,
        "run_id": row.run_id,
        "output": row.output,
        "latest_version": latest.version,
        "used_by_runs": int(conn.execute(used).scalar() or 0),
    }


def _has(labels: dict[str, Any], wanted: Sequence[str]) -> bool:
    for text in wanted:
        key, equals, value = text.partition("=")
        if key not in labels or (equals and labels[key] != value):
            return False
    return True
