"""One build, many runs that wait for it: each has the whole build log as its own."""

from __future__ import annotations

import logging
import threading
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.spec.logs import BUILD_LOG

__all__ = ["BuildLogs"]

log = logging.getLogger(__name__)
FLUSH_S = 0.25  # what comes together is stored together: twenty runs are twenty transactions


class BuildLogs:
    """Takes a build's bytes and appends them to the build log of every run that was added, from the first byte on.

    Promises: a run that is added late gets what was said before; what was said is stored at most FLUSH_S later, and all of it
    when `close` returns; a run whose log cannot be written holds up nobody. Nothing said, nothing stored. Thread-safe.
    """

    def __init__(self, record: Any) -> None:
        self._record = record
        self._lock = threading.Lock()  # what was said, and who listens
        self._storing = threading.Lock()  # one flush at a time: offsets follow one another
        self._said = bytearray()
        self._stored: dict[str, int] = {}
        self._timer: Optional[threading.Timer] = None

    def add(self, run_id: str) -> None:
        with self._lock:
            self._stored.setdefault(run_id, 0)
            self._flush_soon()

    def __call__(self, data: bytes) -> None:
        with self._lock:
            self._said += data
            self._flush_soon()

    def close(self) -> None:
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        self._flush()

    def _flush_soon(self) -> None:
        if self._timer is None and any(size < len(self._said) for size in self._stored.values()):
            self._timer = threading.Timer(FLUSH_S, self._flush)
            self._timer.daemon = True
            self._timer.start()

    def _flush(self) -> None:
        with self._storing:
            with self._lock:
                self._timer = None
                said = bytes(self._said)
                behind = {run_id: size for run_id, size in self._stored.items() if size < len(said)}
            for run_id, size in behind.items():
                self._append(run_id, said[size:])
            with self._lock:
                self._stored.update(dict.fromkeys(behind, len(said)))

    def _append(self, run_id: str, data: bytes) -> None:
        try:
            self._record.logs.append(run_id, BUILD_LOG, self._record.logs.size(run_id, BUILD_LOG), data)
        except (RookeryError, OSError) as error:
            log.warning("The build log of run %s cannot be written: %s", run_id, error)
