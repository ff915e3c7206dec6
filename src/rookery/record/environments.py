"""The registry of environments: versions of a name, each a definition that never changes, and labels that point to them."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Optional

from sqlalchemy import Connection, delete, func, insert, select

from rookery.errors import EnvironmentNotFoundError, UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.events import write_event
from rookery.record.schema import environment_labels, environments
from rookery.record.secrets import Secrets, environment_owner
from rookery.record.text import clean_name, clean_text
from rookery.spec.names import check_environment_name
from rookery.spec.run import MASK

__all__ = ["Environments"]

MAX_DEFINITION = 2_000_000
# What says which one it is, or where it came from; not what it contains.
_NOT_CONTENT = ("name", "version", "assetId")


class Environments:
    """Promises: the same content under the same name is the same version; a version's definition never changes."""

    def __init__(self, db: Database, secrets: Secrets) -> None:
        self._db, self._secrets = db, secrets

    def register(self, definition: Any, secret_values: dict[str, str], created_by: str) -> tuple[dict[str, Any], bool]:
        """(the Environment, whether it is new). A masked variable without a value keeps the value that the version named
        by the definition, or else the latest one, has for it.
        """
        name, content = _checked(definition)
        with self._db.write() as tx:
            values = self._secret_values(tx.conn, name, definition, secret_values)
            digest = _hash(content, {key: self._secrets.mark(value) for key, value in values.items()})
            query = select(environments.c.version).where(environments.c.name == name)
            version = tx.conn.execute(query.where(environments.c.hash == digest)).scalar()
            is_new = version is None
            if version is None:
                latest = tx.conn.execute(select(func.max(environments.c.version)).where(environments.c.name == name))
                version = (latest.scalar() or 0) + 1
                row = {"name": name, "version": version, "hash": digest, "definition": content}
                tx.conn.execute(
                    insert(environments).values(**row, created_utc=utc_now(), created_by=clean_text(created_by))
                )
                self._secrets.write(tx, environment_owner(name, version), values)
                write_event(tx, None, "environment", {"name": name, "version": str(version)}, name)
            return _plain(tx.conn, _find(tx.conn, name, version)), is_new

    def get(self, name: str, version: Optional[str] = None, label: Optional[str] = None) -> dict[str, Any]:
        """This version, the one that the label points to, or the latest."""
        with self._db.read() as conn:
            number = None if version is None else _number(name, version)
            if label is not None and label.lower() != "latest":
                number = _labelled(conn, name, label)
            return _plain(conn, _find(conn, name, number))

    def find(self, name: str) -> Optional[dict[str, Any]]:
        """The latest version, or None."""
        try:
            return self.get(name)
        except EnvironmentNotFoundError:
            return None

    def list(self, name: Optional[str] = None) -> list[dict[str, Any]]:
        """The latest version of every name, by name; or all versions of one, newest first."""
        query = select(environments).order_by(environments.c.name, environments.c.version.desc())
        if name is not None:
            query = query.where(environments.c.name == name)
        with self._db.read() as conn:
            rows = conn.execute(query).all()
            if name is None:
                newest: dict[str, Any] = {}
                for row in rows:
                    newest.setdefault(row.name, row)
                rows = list(newest.values())
            return [_plain(conn, row) for row in rows]

    def label(self, name: str, version: str, labels: Any) -> dict[str, Any]:
        """Lets the labels point to this version, wherever they pointed before."""
        if isinstance(labels, str) or not isinstance(labels, list) or not labels:
            raise UserError(f"labels={labels!r:.80} must be a list of names, like ['prod'].")
        names = [clean_name(label, "A label") for label in labels]
        if any(label.lower() == "latest" or len(label) > 255 for label in names):
            raise UserError("The label 'latest' always means the newest version; labels have at most 255 characters.")
        with self._db.write() as tx:
            row = _find(tx.conn, name, _number(name, version))
            tx.conn.execute(
                delete(environment_labels).where(
                    environment_labels.c.name == row.name, environment_labels.c.label.in_(names)
                )
            )
            tx.conn.execute(
                insert(environment_labels),
                [{"name": row.name, "label": label, "version": row.version} for label in dict.fromkeys(names)],
            )
            return _plain(tx.conn, row)

    def secret_values(self, conn: Connection, name: str, version: Optional[str]) -> dict[str, str]:
        """The secret variables of a registered version, in clear; none where there is no such version."""
        if version is None or not str(version).isdecimal():
            return {}
        return self._secrets.read(conn, environment_owner(name, int(version)))

    def _secret_values(
        self, conn: Connection, name: str, definition: dict[str, Any], given: dict[str, str]
    ) -> dict[str, str]:
        variables = definition.get("environmentVariables") or {}
        unmasked = [key for key in given if variables.get(key) != MASK]
        if unmasked:
            raise UserError(f"Variable '{unmasked[0]}' is secret; the definition must say {MASK!r} for its value.")
        wanted = [key for key, value in variables.items() if value == MASK and key not in given]
        if not wanted:
            return given
        latest = conn.execute(select(func.max(environments.c.version)).where(environments.c.name == name)).scalar()
        before = self.secret_values(conn, name, definition.get("version") or (latest and str(latest)))
        missing = [key for key in wanted if key not in before]
        if missing:
            raise UserError(
                f"The secret variable '{missing[0]}' of environment '{name}' has no value here. "
                f"Set it: env.environment_variables['{missing[0]}'] = Secret('…')."
            )
        return {**given, **{key: before[key] for key in wanted}}


def _checked(definition: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(definition, dict):
        raise UserError(f"definition must be an object, not {type(definition).__name__}.")
    name = check_environment_name(definition.get("name"), own=True)
    variables = definition.get("environmentVariables") or {}
    if not isinstance(variables, dict) or not all(isinstance(v, str) for v in variables.values()):
        raise UserError("definition.environmentVariables must be an object of names and texts.")
    content = {key: value for key, value in definition.items() if key not in _NOT_CONTENT}
    if len(json.dumps(content)) > MAX_DEFINITION:
        raise UserError(f"The definition of environment '{name}' is larger than {MAX_DEFINITION // 1000} kB.")
    return name, content


def _hash(content: dict[str, Any], marks: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps([content, marks], sort_keys=True).encode("utf-8")).hexdigest()


def _number(name: str, version: Any) -> int:
    if not str(version).isdecimal() or len(str(version)) > 9:
        raise EnvironmentNotFoundError(
            f"Environment '{name:.255}' has no version {version!r:.40}: versions are numbers, '1', '2', …"
        )
    return int(version)


def _labelled(conn: Connection, name: str, label: str) -> int:
    query = select(environment_labels).where(environment_labels.c.name == name)
    found = {row.label: row.version for row in conn.execute(query)}
    if label not in found:
        known = ", ".join(sorted(found)) or "none"
        raise EnvironmentNotFoundError(f"Environment '{name:.255}' has no label '{label:.255}'. Known: {known}.")
    return found[label]


def _find(conn: Connection, name: str, version: Optional[int]) -> Any:
    query = select(environments).where(environments.c.name == name).order_by(environments.c.version.desc()).limit(1)
    row = conn.execute(query if version is None else query.where(environments.c.version == version)).first()
    if row is not None:
        return row
    numbers = conn.execute(select(environments.c.version).where(environments.c.name == name)).scalars().all()
    if numbers:
        known = ", ".join(map(str, sorted(numbers)[-20:]))
        raise EnvironmentNotFoundError(f"Environment '{name:.255}' has no version {version}. Known: {known}.")
    raise EnvironmentNotFoundError(
        f"Environment '{name:.255}' does not exist. Environment.list(ws) names those that do."
    )


def _plain(conn: Connection, row: Any) -> dict[str, Any]:
    query = select(environment_labels.c.label).where(
        environment_labels.c.name == row.name, environment_labels.c.version == row.version
    )
    return {
        "name": row.name,
        "version": str(row.version),
        "definition": {"name": row.name, "version": str(row.version), **row.definition},
        "labels": sorted(conn.execute(query).scalars()),
        "created_utc": row.created_utc,
        "created_by": row.created_by,
        "curated": False,
        "maps_to": "",
    }
