"""The driver of all tunings: one thread that looks, decides, stores and only then acts. It lives in the keeper.

Everything that it does can be done again: a child is known by its number, so it is made once; what a policy has stopped is
noted before it is stopped. A keeper that is killed anywhere is followed by one that carries on.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Optional

from rookery.engine.loop import Loop
from rookery.errors import RunConfigError, RunNotFoundError, UserError
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["TuneDriver"]

log = logging.getLogger(__name__)
LOOK_S = 5.0  # between two looks at everything, should a bell have been missed
GAP_S = 0.02  # between two looks at one tuning: children may log a thousand times a second
RETRY_S = 1.0


class TuneDriver:
    """Drives runs of kind `tune` (`engine.drivers.Driver`)."""

    kind = RunKind.TUNE

    def __init__(self, record: Any, controller: Any) -> None:
        self._record, self._controller = record, controller
        self._loop = Loop(self._tick, name="rookery-tune", soon_s=0.0)
        self._tunings: dict[str, Any] = {}
        self._due: dict[str, float] = {}  # tuning → when it is looked at again at the latest

    def start(self) -> None:
        self._loop.start()
        for run_id in self._record.runs.driven(self.kind):
            self.submitted(run_id)

    def stop(self) -> None:
        """Leaves everything as it is stored; children go on."""
        self._loop.stop()
        for tuning in self._tunings.values():
            tuning.close()

    def check(self, spec: RunSpec) -> None:
        from rookery.tune.checks import check_tuning  # loaded with the first tuning: a keeper starts without

        check_tuning(self._record, self._controller, spec)

    def submitted(self, run_id: str) -> None:
        self._loop.post(lambda: self._take_up(run_id))

    def cancel(self, run_id: str) -> None:
        self._loop.call(lambda: self._cancel(run_id))

    def count(self) -> int:
        return len(self._tunings)

    # -- in the thread ---------------------------------------------------------------------------------------

    def _take_up(self, run_id: str) -> Optional[Any]:
        if run_id in self._tunings:
            return self._tunings[run_id]
        run = self._record.runs.get(run_id)
        if RunStatus(run["status"]).is_terminal:
            return None
        from rookery.tune.tuning import Tuning

        try:
            tuning = Tuning(self._record, self._controller, run, lambda: self._loop.post(lambda: self._ring(run_id)))
        except (UserError, RunConfigError, KeyError, TypeError) as error:
            log.exception("Tuning %s cannot be taken up", run_id)
            from rookery.tune.telling import failure

            words = f"The keeper cannot read what it is to do ({error})."
            self._record.runs.advance(run_id, status=RunStatus.FAILED, error=failure(words))
            return None
        except Exception:
            log.exception("Tuning %s could not be taken up now; it is tried again", run_id)
            again = threading.Timer(RETRY_S, self.submitted, [run_id])
            again.daemon = True
            again.start()
            return None
        self._tunings[run_id] = tuning
        self._due[run_id] = 0.0
        return tuning

    def _cancel(self, run_id: str) -> None:
        tuning = self._take_up(run_id)
        if tuning is not None:
            tuning.cancel()
            self._due[run_id] = 0.0

    def _ring(self, run_id: str) -> None:
        tuning = self._tunings.get(run_id)
        if tuning is not None:
            self._due[run_id] = min(self._due[run_id], tuning.looked + GAP_S)

    def _tick(self) -> Optional[float]:
        now = time.monotonic()
        for run_id, due in list(self._due.items()):
            if now >= due:
                self._work(run_id)
        return min(self._due.values(), default=None)

    def _work(self, run_id: str) -> None:
        tuning = self._tunings[run_id]
        try:
            is_over = tuning.work()
        except Exception:
            is_over = self._is_gone(run_id)
            if not is_over:
                log.exception("Tuning %s could not be moved on; it is tried again", run_id)
                self._due[run_id] = time.monotonic() + RETRY_S
                return
        if is_over:
            tuning.close()
            del self._tunings[run_id], self._due[run_id]
            return
        again = time.monotonic() + LOOK_S
        self._due[run_id] = tuning.looked + GAP_S if tuning.is_rung else min(again, tuning.deadline)

    def _is_gone(self, run_id: str) -> bool:
        """Whether it was ended or deleted by another way."""
        try:
            return RunStatus(self._record.runs.get(run_id)["status"]).is_terminal
        except RunNotFoundError:
            return True
        except Exception:
            return False  # the record cannot be asked now
