"""Modules of one's own: a card, and the snapshot of the code that runs it, in versions. The vision room's are no rows here.

In one table: the row `name` is what a pipeline gets that names no version; `name@label` is a version, `name@` what is known of the
module as a whole. A name has no '@'. A module that was added before there were versions has only the first of them, which is then
its one version.
"""

from __future__ import annotations

import builtins
import re
from typing import Any, Optional

from sqlalchemy import delete, insert, select, update

from rookery.errors import ConflictError, NotFoundError, UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.events import write_event
from rookery.record.schema_pipeline import pipeline_modules
from rookery.record.text import clean_text

__all__ = ["STATUSES", "CustomModules"]

STATUSES = ("Active", "Deprecated", "Disabled")
_MARK = "@"
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}\Z")
_NUMBERS = re.compile(r"\d+(\.\d+)*\Z")


class CustomModules:
    """Promises: the same card and code again is the same version; anything else is another. A version never changes what it does."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(
        self,
        name: str,
        card: dict[str, Any],
        snapshot_id: str,
        created_by: str,
        version: Optional[str] = None,
        make_default: bool = True,
    ) -> dict[str, Any]:
        """The version, as it is kept. Without `version` it gets the next number, unless the newest one is the same.

        Raises:
            ConflictError: there is another version of that label.
            UserError: no label looks like this.
        """
        if version is not None and not _LABEL.match(version):
            raise UserError(f"version={version!r:.80}. Give letters, digits and . _ + - (64 at most), such as '1.2'.")
        with self._db.write() as tx:
            versions = _versions(tx.conn, name)
            last = max(versions, key=lambda each: each["number"], default=None)
            found = next((each for each in versions if each["version"] == version), None)
            if version is None and last is not None and (last["card"], last["snapshot_id"]) == (card, snapshot_id):
                found = last
            elif found is not None and (found["card"], found["snapshot_id"]) != (card, snapshot_id):
                raise ConflictError(
                    f"Module '{name}' has a version '{version}' already, which does something else. Give another label, or none."
                )
            if found is None:
                number = (last["number"] if last else 0) + 1
                while version is None and any(each["version"] == str(number) for each in versions):
                    number += 1
                label = str(number) if version is None else version
                found = {
                    "version": label,
                    "number": number,
                    "card": card,
                    "snapshot_id": snapshot_id,
                    "status": STATUSES[0],
                    "description": str(card.get("help") or ""),
                    "created_utc": utc_now(),
                    "created_by": clean_text(created_by),
                }
                versions.append(found)
            about = _about(tx.conn, name)
            if make_default:
                about["default_version"] = found["version"]
            self._store(tx, name, versions, about, created_by)
            return {"name": name, **found}

    def create(self, name: str, description: str, created_by: str) -> None:
        """A name that has no version yet; harmless where there is one."""
        with self._db.write() as tx:
            if not _is_there(tx.conn, name):
                about = {**_about(tx.conn, name), "description": clean_text(description)}
                self._store(tx, name, [], about, created_by)

    def change(
        self,
        name: str,
        version: Optional[str] = None,
        default_version: Optional[str] = None,
        status: Optional[str] = None,
        description: Optional[str] = None,
        by: str = "",
    ) -> None:
        """Of the module, or of one of its versions, where `version` names it.

        Raises:
            NotFoundError: there is no such module or version.
        """
        with self._db.write() as tx:
            if not _is_there(tx.conn, name):
                raise _unknown(name)
            versions, about = _versions(tx.conn, name), _about(tx.conn, name)
            for label in (version, default_version):
                if label is not None and not any(each["version"] == label for each in versions):
                    known = ", ".join(each["version"] for each in versions) or "none"
                    raise NotFoundError(f"Module '{name}' has no version '{label:.80}'. It has: {known}.")
            target = about if version is None else next(each for each in versions if each["version"] == version)
            if status is not None:
                target["status"] = status
            if description is not None:
                target["description"] = clean_text(description)
            if default_version is not None:
                about["default_version"] = default_version
            self._store(tx, name, versions, about, by)

    def list(self) -> list[dict[str, Any]]:
        """What every module is now, for pipelines that name no version."""
        with self._db.read() as conn:
            rows = conn.execute(select(pipeline_modules).order_by(pipeline_modules.c.name)).all()
        known = {row.name: row.card for row in rows if row.name.endswith(_MARK)}
        return [_plain(row, known.get(row.name + _MARK, {})) for row in rows if _MARK not in row.name]

    def find(self, name: str) -> Optional[dict[str, Any]]:
        with self._db.read() as conn:
            row = None if _MARK in name else _row(conn, name)
            about = _row(conn, name + _MARK)
        return None if row is None else _plain(row, {} if about is None else about.card)

    def versions(self, name: str) -> dict[str, Any]:
        """`{"name", "status", "description", "default_version", "current", "versions": [oldest, …]}`; `current` is the label that a
        pipeline gets which names none.

        Raises:
            NotFoundError: there is no such module.
        """
        with self._db.read() as conn:
            if not _is_there(conn, name):
                raise _unknown(name)
            found, about = _versions(conn, name), _about(conn, name)
        return {"name": name, **about, "current": _current(found, about), "versions": found}

    def all_versions(self) -> dict[str, builtins.list[dict[str, Any]]]:
        """{name: versions}."""
        with self._db.read() as conn:
            rows = conn.execute(select(pipeline_modules).order_by(pipeline_modules.c.version)).all()
        found: dict[str, Any] = {}
        for row in rows:
            name, mark, label = row.name.partition(_MARK)
            if mark and label:
                found.setdefault(name, []).append(_version(row, label))
        return found

    def delete(self, name: str) -> None:
        """With all versions."""
        with self._db.write() as tx:
            names = [] if _MARK in name else [row.name for row in _rows(tx.conn, name + _MARK)]
            if not tx.conn.execute(
                delete(pipeline_modules).where(pipeline_modules.c.name.in_([name, *names]))
            ).rowcount:
                raise _unknown(name)
            write_event(tx, None, "module", {"name": name}, name)

    def _store(
        self, tx: Any, name: str, versions: builtins.list[dict[str, Any]], about: dict[str, Any], by: str
    ) -> None:
        current = _current(versions, about)
        empty = {"snapshot_id": "", "created_utc": utc_now(), "created_by": clean_text(by)}
        _save(tx.conn, name + _MARK, {"version": 0, "card": {**about, "current": current}, **empty})
        for each in versions:
            held = {key: each[key] for key in ("card", "status", "description")}
            row = {key: each[key] for key in ("snapshot_id", "created_utc", "created_by")}
            _save(tx.conn, f"{name}{_MARK}{each['version']}", {"version": each["number"], "card": held, **row})
            if each["version"] == current:
                _save(tx.conn, name, {"version": each["number"], "card": each["card"], **row})
        write_event(tx, None, "module", {"name": name}, name)


def _current(versions: list[dict[str, Any]], about: dict[str, Any]) -> Optional[str]:
    """The label that a pipeline gets which names none: the default, else the highest number, else the newest."""
    labels = [each["version"] for each in versions]
    if about.get("default_version") in labels:
        return str(about["default_version"])
    if labels and all(_NUMBERS.match(label) for label in labels):
        return str(max(labels, key=lambda label: [int(part) for part in label.split(".")]))
    return str(max(versions, key=lambda each: each["number"])["version"]) if versions else None


def _about(conn: Any, name: str) -> dict[str, Any]:
    row = _row(conn, name + _MARK)
    known = {} if row is None else {key: value for key, value in row.card.items() if key != "current"}
    return {"status": STATUSES[0], "description": "", "default_version": None, **known}


def _versions(conn: Any, name: str) -> list[dict[str, Any]]:
    """Oldest first."""
    prefix = name + _MARK
    found = [_version(row, row.name[len(prefix) :]) for row in _rows(conn, prefix) if row.name != prefix]
    row = _row(conn, name)
    if not found and row is not None:  # added before there were versions
        known = {"status": STATUSES[0], "description": str(row.card.get("help") or ""), "card": row.card}
        found.append({**_version(row, str(row.version)), **known})
    return found


def _version(row: Any, label: str) -> dict[str, Any]:
    return {
        "version": label,
        "number": row.version,
        "card": row.card.get("card", row.card),
        "status": row.card.get("status", STATUSES[0]),
        "description": row.card.get("description", ""),
        "snapshot_id": row.snapshot_id,
        "created_utc": row.created_utc,
        "created_by": row.created_by,
    }


def _is_there(conn: Any, name: str) -> bool:
    """With versions, or with a name only."""
    return _MARK not in name and any(_row(conn, each) is not None for each in (name, name + _MARK))


def _rows(conn: Any, prefix: str) -> list[Any]:
    """Those whose names begin so, oldest first. LIKE takes small letters for large ones in SQLite, so it is looked at again."""
    query = select(pipeline_modules).where(pipeline_modules.c.name.startswith(prefix, autoescape=True))
    found = conn.execute(query.order_by(pipeline_modules.c.version, pipeline_modules.c.created_utc)).all()
    return [row for row in found if row.name.startswith(prefix)]


def _row(conn: Any, name: str) -> Any:
    return conn.execute(select(pipeline_modules).where(pipeline_modules.c.name == name)).first()


def _save(conn: Any, name: str, values: dict[str, Any]) -> None:
    this = pipeline_modules.c.name == name
    if not conn.execute(update(pipeline_modules).where(this).values(**values)).rowcount:
        conn.execute(insert(pipeline_modules).values(name=name, **values))


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"There is no module '{name:.80}' of yours. `rookery module list` names them.")


def _plain(row: Any, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row.name,
        "version": str(about.get("current") or row.version),
        "card": row.card,
        "snapshot_id": row.snapshot_id,
        "status": str(about.get("status") or STATUSES[0]),
        "created_utc": row.created_utc,
        "created_by": row.created_by,
    }
