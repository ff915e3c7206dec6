"""The model registry: versions of a name, each a list of files that point to content."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, delete, insert, select, update

from rookery.errors import ConflictError, ModelError, ModelNotFoundError
from rookery.record.artifacts import artifacts_below
from rookery.record.clock import utc_now
from rookery.record.content import require_content
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.run_rows import load_run
from rookery.record.schema import model_files, model_names, models
from rookery.record.text import clean_map, clean_text
from rookery.spec.names import check_artifact_name, check_free_name, check_model_name

__all__ = ["Models", "find_version", "plain_versions"]

# What a Model shows that no query asks for.
FACTS = (
    "description",
    "framework_version",
    "experiment",
    "snapshot_id",
    "datasets",
    "resource",
    "sample_input",
    "sample_output",
    "stage",  # None, Staging, Production, Archived
    "source",  # the address that whoever registered it gave
    "source_link",
    "logged_model_id",
    "modified_utc",
)
CHANGEABLE = ("description", "framework_version", "datasets", "resource", "sample_input", "sample_output", "stage")


class Models:
    """Promises: registering links, never copies; a version's files never change; a deleted version's number
    is not reused.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def register(self, body: dict[str, Any], created_by: str) -> dict[str, Any]:
        """A new version from a run's artifacts (`run_id`, `path`), from uploaded content (`entries`), or, its files elsewhere,
        from an address (`source`)."""
        name = check_free_name(body.get("name"), "model") if body.get("source") else check_model_name(body.get("name"))
        tags, properties = (
            clean_map(body.get("tags") or {}, "tags"),
            clean_map(body.get("properties") or {}, "properties"),
        )
        with self._db.write() as tx:
            run = load_run(tx.conn, body["run_id"]) if body.get("run_id") else None
            files, is_folder = _files(tx.conn, name, run, body)
            facts = {key: body.get(key) for key in FACTS}
            facts["description"] = clean_text(body.get("description") or "")
            facts["datasets"] = body.get("datasets") or []
            facts["experiment"] = run["experiment"] if run else body.get("experiment")
            facts["snapshot_id"] = run["snapshot_id"] if run else None
            last = tx.conn.execute(select(model_names.c.last_version).where(model_names.c.name == name)).scalar()
            version = (last or 0) + 1
            now = utc_now()
            if last is None:
                tx.conn.execute(
                    insert(model_names).values(name=name, last_version=version, created_utc=now, modified_utc=now)
                )
            else:
                changed = {"last_version": version, "modified_utc": now}
                tx.conn.execute(update(model_names).where(model_names.c.name == name).values(**changed))
            tx.conn.execute(
                insert(models).values(
                    name=name, version=version, created_utc=now, created_by=clean_text(created_by),
                    run_id=run["id"] if run else None, framework=body.get("framework"), is_folder=int(is_folder),
                    tags=tags, properties=properties, facts=facts,
                )
            )  # fmt: skip
            row = _find(tx.conn, name, version)
            if files:
                tx.conn.execute(insert(model_files), [{"model_seq": row.seq, **file} for file in files])
            write_event(
                tx,
                None,
                "model",
                {"name": name, "version": version, "run_id": row.run_id, "created_by": row.created_by},
                name,
            )
            return _plain(tx.conn, row)

    def get(self, name: str, version: Optional[int] = None) -> dict[str, Any]:
        """This version, or the latest."""
        with self._db.read() as conn:
            return _plain(conn, _find(conn, name, version))

    def list(
        self,
        *,
        name: Optional[str] = None,
        tags: tuple[str, ...] = (),
        properties: tuple[str, ...] = (),
        run_id: Optional[str] = None,
        framework: Optional[str] = None,
        latest: bool = False,
    ) -> list[dict[str, Any]]:
        """Newest first; `tags` and `properties` hold `key` or `key=value`, and all must hold."""
        query = select(models).order_by(models.c.seq.desc())
        for column, value in (
            (models.c.name, name),
            (models.c.run_id, run_id),
            (models.c.framework, framework),
        ):
            if value is not None:
                query = query.where(column == value)
        with self._db.read() as conn:
            rows = [
                row for row in conn.execute(query).all() if _has(row.tags, tags) and _has(row.properties, properties)
            ]
            if latest:
                newest: dict[str, Any] = {}
                for row in rows:
                    newest.setdefault(row.name, row)
                rows = list(newest.values())
            return [_plain(conn, row) for row in rows]

    def change(self, name: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        """Sets what is given, leaves the rest."""
        with self._db.write() as tx:
            row = _find(tx.conn, name, version)
            gone = set(body.get("remove_tags") or [])
            properties = clean_map(body.get("properties") or {}, "properties")
            for key, value in properties.items():
                if row.properties.get(key, value) != value:
                    raise ConflictError(
                        f"Property '{key}' of model {name}:{version} is {row.properties[key]!r} already and properties are "
                        "written once. Use a tag for what changes."
                    )
            tags = {**row.tags, **clean_map(body.get("tags") or {}, "tags")}
            values: dict[str, Any] = {
                "tags": {k: v for k, v in tags.items() if k not in gone},
                "properties": {**row.properties, **properties},
                "facts": {
                    **row.facts,
                    **{key: body[key] for key in CHANGEABLE if body.get(key) is not None},
                    "modified_utc": utc_now(),
                },
            }
            if body.get("framework") is not None:
                values["framework"] = body["framework"]
            tx.conn.execute(update(models).where(models.c.seq == row.seq).values(**values))
            tell_model_change(tx, name, "changed", version)
            return _plain(tx.conn, _find(tx.conn, name, version))

    def delete(self, name: str, version: int) -> None:
        with self._db.write() as tx:
            row = _find(tx.conn, name, version)
            aliases = tx.conn.execute(select(model_names.c.aliases).where(model_names.c.name == name)).scalar() or {}
            kept = {alias: to for alias, to in aliases.items() if to != version}
            tx.conn.execute(update(model_names).where(model_names.c.name == name).values(aliases=kept))
            tx.conn.execute(delete(model_files).where(model_files.c.model_seq == row.seq))
            tx.conn.execute(delete(models).where(models.c.seq == row.seq))
            tell_model_change(tx, name, "deleted", version)

    def file(self, name: str, version: int, path: str) -> dict[str, Any]:
        """One file of a version: path, sha256, size."""
        model = self.get(name, version)
        wanted = check_artifact_name(path)
        for file in model["files"]:
            if file["path"] == wanted:
                return file
        known = ", ".join(file["path"] for file in model["files"][:20])
        raise ModelNotFoundError(f"Model {model['id']} has no file '{wanted:.255}'. Known: {known}.")


def tell_model_change(tx: Tx, name: str, change: str, version: Optional[int] = None) -> None:
    """An event for pages that show it. That of a registration has no `change`, and webhooks tell of it alone."""
    write_event(tx, None, "model", {"name": name, "version": version, "change": change}, name)


def _files(
    conn: Connection, name: str, run: Optional[dict[str, Any]], body: dict[str, Any]
) -> tuple[list[dict[str, Any]], bool]:
    if body.get("entries") is not None:
        files = [_entry(conn, entry) for entry in body["entries"]]
        if not files and not body.get("source"):
            raise ModelError(f"Model '{name}' would have no files. Give a file or a folder that is not empty.")
        if len({file["path"] for file in files}) != len(files):
            raise ModelError(f"Model '{name}': a path is there twice.")
        single = len(files) == 1 and "/" not in files[0]["path"]
        return files, bool(body["is_folder"]) if body.get("is_folder") is not None else not single
    if run is None:
        raise ModelError("Give either run_id (with the path of a file or folder of that run) or entries.")
    return artifacts_below(conn, run["id"], check_artifact_name(body.get("path") or name))


def _entry(conn: Connection, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ModelError("A model's entry is an object with path, sha256 and size.")
    sha256 = entry.get("sha256")
    return {
        "path": check_artifact_name(entry.get("path")),
        "sha256": sha256,
        "size": require_content(conn, str(sha256)),
    }


def find_version(conn: Connection, name: str, version: Optional[int]) -> Any:
    """The row of a version, or ModelNotFoundError."""
    return _find(conn, name, version)


def plain_versions(conn: Connection, rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [_plain(conn, row) for row in rows]


def _find(conn: Connection, name: str, version: Optional[int]) -> Any:
    query = select(models).where(models.c.name == name).order_by(models.c.version.desc()).limit(1)
    row = conn.execute(query if version is None else query.where(models.c.version == version)).first()
    if row is None:
        what = f"'{name:.255}'" if version is None else f"'{name:.255}' version {version}"
        known = [known for (known,) in conn.execute(select(models.c.name).distinct())]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"Did you mean '{near[0]}'? " if near and near[0] != name else ""
        raise ModelNotFoundError(f"Model {what} does not exist. {hint}List them with `rookery models list`.")
    return row


def _plain(conn: Connection, row: Any) -> dict[str, Any]:
    query = select(model_files).where(model_files.c.model_seq == row.seq).order_by(model_files.c.path)
    aliases = conn.execute(select(model_names.c.aliases).where(model_names.c.name == row.name)).scalar() or {}
    return {
        "name": row.name,
        "version": row.version,
        "id": f"{row.name}:{row.version}",
        "created_utc": row.created_utc,
        "created_by": row.created_by,
        "tags": row.tags,
        "properties": row.properties,
        "framework": row.framework,
        "run_id": row.run_id,
        "files": [{"path": f.path, "sha256": f.sha256, "size": f.size} for f in conn.execute(query)],
        "is_folder": bool(row.is_folder),
        "aliases": sorted(alias for alias, version in aliases.items() if version == row.version),
        **{key: row.facts.get(key) for key in FACTS},
    }


def _has(labels: dict[str, Any], wanted: tuple[str, ...]) -> bool:
    for text in wanted:
        key, equals, value = text.partition("=")
        if key not in labels or (equals and labels[key] != value):
            return False
    return True
