"""Writes why runs wait, beside the controller's thread: many at a time, and never over what has happened since."""

from __future__ import annotations

import logging
import threading
from typing import Any

from rookery.spec.status import RunStatus

__all__ = ["ReasonWriter"]

log = logging.getLogger(__name__)
BATCH = 100
RETRY_S = 1.0


class ReasonWriter:
    """The newest reason of each run is written soon; one that has been replaced meanwhile is not written at all."""

    def __init__(self, record: Any) -> None:
        self._record = record
        self._wanted: dict[str, tuple[RunStatus, str]] = {}
        self._change = threading.Condition()
        self._closed = self._busy = False
        self._thread = threading.Thread(target=self._run, name="rookery-reasons", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Writes what is left."""
        with self._change:
            self._closed = True
            self._change.notify()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_idle(self) -> bool:
        """Whether everything is written."""
        return not self._wanted and not self._busy

    def write(self, run_id: str, status: RunStatus, reason: str) -> None:
        """Why a run waits in this status; dropped when it has left it."""
        with self._change:
            self._wanted[run_id] = (status, reason)
            self._change.notify()

    def _run(self) -> None:
        while True:
            with self._change:
                self._busy = False
                while not self._wanted and not self._closed:
                    self._change.wait()
                if not self._wanted:
                    return
                self._busy = True
                batch = {run_id: self._wanted.pop(run_id) for run_id in list(self._wanted)[:BATCH]}
            try:
                self._record.runs.note_reasons(batch)
            except Exception as error:
                log.warning("Why runs wait could not be written: %s", error)
                with self._change:
                    self._wanted = {**batch, **self._wanted}  # what has come meanwhile is newer
                    if not self._closed:
                        self._change.wait(RETRY_S)
                    if self._closed:
                        return
