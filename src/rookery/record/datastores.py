"""Datastores: what they are, and (sealed) what opens them."""

from __future__ import annotations

import difflib
import json
import os
from typing import Any, Optional

from sqlalchemy import Connection, delete, insert, select, update

from rookery.errors import ConflictError, DatastoreNotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.events import write_event
from rookery.record.schema import secrets
from rookery.record.schema_data import datastores
from rookery.record.secrets import Secrets
from rookery.record.storage import storage_errors
from rookery.record.text import clean_text
from rookery.spec.data_definition import check_datastore_name
from rookery.spec.paths import WorkspacePaths
from rookery.stores import check_store_spec

__all__ = ["DEFAULT", "Datastores"]

DEFAULT = "workspaceblobstore"
OWN = (DEFAULT, "workspacefilestore")  # folders of the workspace, always there
_TYPES = {"folder": "Folder", "s3": "S3", "gcs": "GoogleCloudStorage", "azure": "AzureBlob", "http": "Http"}


class Datastores:
    """Promises: credentials are nowhere in what it answers but in `credentials`, which only opens stores."""

    def __init__(self, db: Database, known: Secrets, paths: WorkspacePaths) -> None:
        self._db, self._secrets, self._paths = db, known, paths

    def list(self) -> list[dict[str, Any]]:
        """The workspace's own first, then by name."""
        with self._db.read() as conn:
            rows = {row.name: row for row in conn.execute(select(datastores).order_by(datastores.c.name))}
            default = _default(conn)
            return [
                self._plain(conn, name, rows.get(name), default) for name in [*OWN, *(n for n in rows if n not in OWN)]
            ]

    def get(self, name: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return self._plain(conn, name, self._find(conn, name), _default(conn))

    def default(self) -> str:
        with self._db.read() as conn:
            return _default(conn)

    def register(self, body: dict[str, Any], created_by: str) -> dict[str, Any]:
        """`name`, `kind`, `spec`, `credentials`, `overwrite`.

        Raises:
            ConflictError: one of that name is there, and overwrite is not set; or it is the workspace's own.
        """
        name = check_datastore_name(body.get("name"))
        spec, credentials = check_store_spec(body.get("kind"), body.get("spec") or {}, body.get("credentials"))
        if name in OWN:
            raise ConflictError(f"Datastore '{name}' is the workspace's own. Choose another name.")
        now = utc_now()
        with self._db.write() as tx:
            row = tx.conn.execute(select(datastores).where(datastores.c.name == name)).first()
            if row is not None and not body.get("overwrite"):
                raise ConflictError(f"Datastore '{name}' exists. Give overwrite=True to replace it, or another name.")
            values = {"kind": body["kind"], "spec": spec, "modified_utc": now, "created_by": clean_text(created_by)}
            if row is None:
                tx.conn.execute(insert(datastores).values(name=name, is_default=0, created_utc=now, **values))
            else:
                tx.conn.execute(update(datastores).where(datastores.c.name == name).values(**values))
            # One text, because a secret is one: headers are several.
            sealed = {"credentials": json.dumps(credentials)} if credentials else {}
            self._secrets.write(tx, _owner(name), sealed)
            _tell(tx, name)
            return self._plain(tx.conn, name, self._find(tx.conn, name), _default(tx.conn))

    def set_default(self, name: str) -> dict[str, Any]:
        with self._db.write() as tx:
            row = self._find(tx.conn, name)
            tx.conn.execute(update(datastores).values(is_default=0))
            if row is not None:
                tx.conn.execute(update(datastores).where(datastores.c.name == name).values(is_default=1))
            _tell(tx, name)
            return self._plain(tx.conn, name, self._find(tx.conn, name), _default(tx.conn))

    def delete(self, name: str) -> None:
        """Forgets it; its files stay. The workspace's own cannot be forgotten."""
        with self._db.write() as tx:
            self._find(tx.conn, name)
            if name in OWN:
                raise ConflictError(f"Datastore '{name}' is the workspace's own and stays.")
            self._forget(tx, name)

    def opening(self, name: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """(kind, spec, credentials) of a datastore: for opening it, and nothing else."""
        with self._db.read() as conn:
            row = self._find(conn, name)
            if row is None:
                return "folder", {"folder": self._own_folder(name)}, {}
            sealed = self._secrets.read(conn, _owner(name)).get("credentials")
            return row.kind, dict(row.spec), json.loads(sealed) if sealed else {}

    def _own_folder(self, name: str) -> str:
        folder = self._paths.datastore(name)
        with storage_errors(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        return folder

    def _forget(self, tx: Tx, name: str) -> None:
        self._secrets.write(tx, _owner(name), {})
        tx.conn.execute(delete(datastores).where(datastores.c.name == name))
        _tell(tx, name)

    def _find(self, conn: Connection, name: str) -> Any:
        """Its row; None for one of the workspace's own."""
        row = conn.execute(select(datastores).where(datastores.c.name == name)).first()
        if row is None and name not in OWN:
            known = [*OWN, *(n for (n,) in conn.execute(select(datastores.c.name).order_by(datastores.c.name)))]
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"Did you mean '{near[0]}'? " if near else ""
            raise DatastoreNotFoundError(
                f"Datastore '{name!s:.255}' does not exist. {hint}Known: {', '.join(known[:20])}."
            )
        return row

    def _plain(self, conn: Connection, name: str, row: Any, default: str) -> dict[str, Any]:
        kind = row.kind if row is not None else "folder"
        spec: dict[str, Any] = dict(row.spec) if row is not None else {"folder": self._paths.datastore(name)}
        facts = spec.pop("facts", None) or {}
        sealed = select(secrets.c.name).where(secrets.c.owner == _owner(name))
        return {
            "name": name,
            "kind": kind,
            "type": facts.get("type") or (_own_type(name) if row is None else _TYPES[kind]),
            "spec": spec,
            "facts": facts,
            "has_credentials": conn.execute(sealed).first() is not None,
            "is_default": name == default,
            "created_utc": row.created_utc if row is not None else None,
            "created_by": row.created_by if row is not None else "",
        }


def _tell(tx: Tx, name: str) -> None:
    """Pages that show data are asked to look again."""
    write_event(tx, None, "dataset", {"datastore": name}, name)


def _default(conn: Connection) -> str:
    found: Optional[str] = conn.execute(select(datastores.c.name).where(datastores.c.is_default == 1)).scalar()
    return found or DEFAULT


def _own_type(name: str) -> str:
    """What v1 says of the two that every workspace has: code prints it."""
    return "AzureBlob" if name == DEFAULT else "AzureFile"


def _owner(name: str) -> str:
    return f"datastore/{name}"
