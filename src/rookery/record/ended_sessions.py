"""Sessions of the owner that were ended before their time. They are signed, not stored; those that are over are, until they would have ended.

Asked with every request of a browser: what is stored is read once and then known.
"""

from __future__ import annotations

import hashlib
import threading
import time
from typing import Optional

from sqlalchemy import delete, insert, select

from rookery.record.database import Database
from rookery.record.schema import workspace

__all__ = ["EndedSessions"]

KEY = "ended_sessions"


class EndedSessions:
    """Promises: thread-safe; a session that was ended stays so, whoever keeps the workspace later."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._until: Optional[dict[str, float]] = None  # by hash: when it would have ended

    def end(self, token: str, expires: float) -> None:
        """expires: unix seconds; from then on nobody would take it anyway."""
        with self._lock:
            known = {key: until for key, until in self._known().items() if until > time.time()}
            known[_hash(token)] = expires
            with self._db.write() as tx:
                tx.conn.execute(delete(workspace).where(workspace.c.key == KEY))
                tx.conn.execute(insert(workspace).values(key=KEY, value=known))
            self._until = known

    def is_ended(self, token: str) -> bool:
        known = self._until  # replaced as a whole: nobody waits here for somebody who logs out
        if known is None:
            with self._lock:
                known = self._known()
        return _hash(token) in known

    def _known(self) -> dict[str, float]:
        if self._until is None:
            with self._db.read() as conn:
                stored = conn.execute(select(workspace.c.value).where(workspace.c.key == KEY)).scalar()
            self._until = stored if isinstance(stored, dict) else {}
        return self._until


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
