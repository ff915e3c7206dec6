"""What people say about the workspace itself: tags, a friendly name, a description."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select

from rookery.record.database import Database
from rookery.record.schema import workspace
from rookery.record.text import clean_map, clean_text

__all__ = ["WorkspaceFacts"]

_DEFAULTS: dict[str, Any] = {"tags": {}, "friendly_name": "", "description": ""}


class WorkspaceFacts:
    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self) -> dict[str, Any]:
        with self._db.read() as conn:
            stored = {row.key: row.value for row in conn.execute(select(workspace))}
        return {key: stored.get(key, default) for key, default in _DEFAULTS.items()}

    def change(self, given: dict[str, Any]) -> dict[str, Any]:
        """Sets those that are given; `tags` replaces all of them."""
        with self._db.write() as tx:
            for key in _DEFAULTS:
                if given.get(key) is None:
                    continue
                value = clean_map(given[key], "tags") if key == "tags" else clean_text(given[key], key)
                tx.conn.execute(delete(workspace).where(workspace.c.key == key))
                tx.conn.execute(insert(workspace).values(key=key, value=value))
        return self.get()
