"""What a run was fed with and what it gave: datasets and models, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, select

from rookery.record.database import Database, Tx
from rookery.record.run_rows import run_row
from rookery.record.schema_tracking import run_inputs
from rookery.record.text import clean_name

__all__ = ["Inputs", "add_inputs"]


class Inputs:
    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, run_id: str, items: Sequence[dict[str, Any]]) -> None:
        """Items: direction (in, out), kind (dataset, model), name, digest, context, data. One that is there stays as it is."""
        with self._db.write() as tx:
            run_row(tx.conn, run_id)
            add_inputs(tx, run_id, items)


def add_inputs(tx: Tx, run_id: str, items: Sequence[dict[str, Any]]) -> None:
    """The step inside a transaction."""
    if not items:
        return
    query = select(run_inputs).where(run_inputs.c.run_id == run_id)
    have = {_key(row) for row in tx.conn.execute(query).mappings()}
    new = []
    for item in items:
        row = {
            "run_id": run_id,
            "direction": item["direction"],
            "kind": item["kind"],
            "name": clean_name(item["name"], "The name of an input"),
            "digest": str(item.get("digest") or "")[:255],
            "context": item.get("context"),
            "data": item.get("data") or {},
        }
        if _key(row) not in have:
            have.add(_key(row))
            new.append(row)
    if new:
        tx.conn.execute(insert(run_inputs), new)


def _key(row: Any) -> tuple[Any, ...]:
    return (row["direction"], row["kind"], row["name"], row["digest"])
