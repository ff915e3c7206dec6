"""Who did what: one row per request that changes something. Written a moment later, in batches, so that nobody waits for it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import Any, Optional

from sqlalchemy import delete, func, insert, select

from rookery.errors import RookeryError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.schema_people import audit
from rookery.record.text import clean_text

__all__ = ["Audit"]

PAUSE_S = 0.2
MOST_WAITING = 10_000
PRUNE_EVERY = 500
log = logging.getLogger(__name__)


class Audit:
    """Promises: `note` never waits and never raises; what was noted is stored within a second, and by `close`; there are never
    many more rows than `keep`, the oldest go first."""

    def __init__(self, db: Database, keep: int) -> None:
        self._db, self._keep = db, max(1, keep)
        self._waiting: deque[dict[str, Any]] = deque(maxlen=MOST_WAITING)
        self._writing = threading.Lock()
        self._some = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._closed = threading.Event()
        self._since_pruned = PRUNE_EVERY  # the first batch looks

    def note(self, who: str, action: str, path: str, status: int, address: str, request_id: str) -> None:
        self._waiting.append(
            {
                "time_utc": utc_now(),
                "who": clean_text(who)[:255],
                "action": action[:255],
                "path": clean_text(path)[:1000],
                "status": status,
                "address": address[:64],
                "request_id": request_id[:64],
            }
        )
        if self._thread is None:
            self._start()
        self._some.set()

    def page(self, limit: int = 100, before: Optional[int] = None, who: Optional[str] = None) -> list[dict[str, Any]]:
        """Newest first; `before` is the `seq` of the last row of the page before."""
        self.flush()
        query = select(audit).order_by(audit.c.seq.desc()).limit(max(1, min(limit, 1000)))
        if before is not None:
            query = query.where(audit.c.seq < before)
        if who is not None:
            query = query.where(audit.c.who == who)
        with self._db.read() as conn:
            return [dict(row._mapping) for row in conn.execute(query)]

    def flush(self) -> None:
        """Stores what is waiting."""
        with self._writing:
            rows = []
            while self._waiting:
                rows.append(self._waiting.popleft())
            if not rows:
                return
            with self._db.write() as tx:
                tx.conn.execute(insert(audit), rows)
                self._since_pruned += len(rows)
                if self._since_pruned >= PRUNE_EVERY:
                    last = tx.conn.execute(select(func.max(audit.c.seq))).scalar() or 0
                    tx.conn.execute(delete(audit).where(audit.c.seq <= last - self._keep))
                    self._since_pruned = 0

    def close(self) -> None:
        self._closed.set()
        self._some.set()
        if self._thread is not None:
            self._thread.join(10)
        try:
            self.flush()
        except RookeryError:
            log.exception("The last rows of the audit log could not be stored")

    def _start(self) -> None:
        with self._writing:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._some.wait()
            self._closed.wait(PAUSE_S)  # more may come: one transaction for all
            self._some.clear()
            try:
                self.flush()
            except RookeryError:
                log.exception("Rows of the audit log could not be stored")
