"""Values that are never shown: in a table of their own, encrypted, opened only for the process that is to have them."""

from __future__ import annotations

from typing import Any, Optional

from sqlalchemy import Connection, delete, insert, select

from rookery.errors import UserError
from rookery.record.database import Database, Tx
from rookery.record.schema import secrets
from rookery.record.sealing import Sealer

__all__ = ["Secrets", "check_values"]

MAX_VALUE = 100_000  # Linux gives one variable 128 KiB


class Secrets:
    """By owner (`run/<id>`, `environment/<name>/<version>`) and name.

    Promises: nothing in clear leaves except from `of_run`, `get` and (to open a datastore) `read`; survives a restart of the keeper; a database without
    `keeper/secret` tells nothing but names and lengths.
    """

    def __init__(self, db: Database, secret: bytes) -> None:
        self._db = db
        self._sealer = Sealer(secret)

    def of_run(self, run_id: str) -> dict[str, str]:
        """The secret variables of a run, in clear: for its ranks and nobody else."""
        with self._db.read() as conn:
            return self.read(conn, run_owner(run_id))

    def names(self, owner: str) -> list[str]:
        """What an owner has, sorted."""
        query = select(secrets.c.name).where(secrets.c.owner == owner).order_by(secrets.c.name)
        with self._db.read() as conn:
            return [name for (name,) in conn.execute(query)]

    def get(self, owner: str, name: str) -> Optional[str]:
        """One value in clear; None where there is none."""
        query = select(secrets.c.sealed).where(secrets.c.owner == owner, secrets.c.name == name)
        with self._db.read() as conn:
            sealed = conn.execute(query).scalar()
        return None if sealed is None else self._sealer.open(f"{owner}/{name}", sealed)

    def put(self, owner: str, name: str, value: Optional[str]) -> None:
        """Sets one value; None removes it."""
        with self._db.write() as tx:
            tx.conn.execute(delete(secrets).where(secrets.c.owner == owner, secrets.c.name == name))
            if value is not None:
                sealed = self._sealer.seal(f"{owner}/{name}", value)
                tx.conn.execute(insert(secrets).values(owner=owner, name=name, sealed=sealed))

    def mark(self, value: str) -> str:
        """See Sealer.mark."""
        return self._sealer.mark(value)

    # -- inside somebody's transaction

    def read(self, conn: Connection, owner: str) -> dict[str, str]:
        rows = conn.execute(select(secrets.c.name, secrets.c.sealed).where(secrets.c.owner == owner))
        return {row.name: self._sealer.open(f"{owner}/{row.name}", row.sealed) for row in rows}

    def write(self, tx: Tx, owner: str, values: dict[str, str]) -> None:
        """Replaces what the owner has."""
        tx.conn.execute(delete(secrets).where(secrets.c.owner == owner))
        rows = [
            {"owner": owner, "name": name, "sealed": self._sealer.seal(f"{owner}/{name}", value)}
            for name, value in values.items()
        ]
        if rows:
            tx.conn.execute(insert(secrets), rows)


def run_owner(run_id: str) -> str:
    return f"run/{run_id}"


def environment_owner(name: str, version: int) -> str:
    return f"environment/{name}/{version}"


def check_values(values: Any) -> dict[str, str]:
    """Names and texts from outside; an error never quotes a value."""
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"secret_values must be an object of names and texts, not {type(values).__name__}.")
    for name, value in values.items():
        if not name or len(name) > 255 or "=" in name or not name.isprintable():
            raise UserError(f"secret_values: {name!r:.80} is no name of an environment variable.")
        if not isinstance(value, str) or "\0" in value or len(value) > MAX_VALUE:
            raise UserError(f"secret_values: the value of '{name}' must be a text of at most {MAX_VALUE} characters.")
    return dict(values)
