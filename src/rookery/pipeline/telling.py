"""What a pipeline's run says of itself: its reason while it runs, the lines of its log, the cause of its failure."""

from __future__ import annotations

import logging
import time
from typing import Any

from rookery.errors import RookeryError
from rookery.pipeline.live import LivePipeline
from rookery.pipeline.plan import Phase
from rookery.record import Record
from rookery.record.clock import utc_now
from rookery.spec.cause import CauseKind
from rookery.spec.logs import PIPELINE_LOG
from rookery.spec.status import RunStatus

__all__ = ["TELL_S", "Telling", "cause_of"]

log = logging.getLogger(__name__)
TELL_S = 0.3


class Telling:
    """In the driver's thread only."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._untold: set[str] = set()  # pipelines whose reason is to be written in a moment

    def say(self, live: LivePipeline, words: str) -> None:
        """A line of the pipeline's own log; written with the next reason, or at the end."""
        live.lines.append(f"[{utc_now()[:19]}Z] {words}\n")

    def say_of(self, live: LivePipeline, node: str, words: str) -> None:
        self.say(live, f"{live.plan.names[node]}: {words}")

    def tell(self, live: LivePipeline) -> None:
        """The run's status and reason, where they have changed; words alone a few times a second at most."""
        self.write(live)
        if live.cancel:
            return
        done = sum(row["phase"] == Phase.COMPLETED for row in live.steps.values())
        now = [live.plan.names[n] for n in live.plan.steps if live.steps[n]["phase"] == Phase.RUNNING]
        words = f"{done} of {len(live.plan.steps)} steps done" + (f"; now: {', '.join(now[:3])}" if now else "")
        if words == live.reason:
            self._untold.discard(live.id)
        elif live.told and time.monotonic() - live.told < TELL_S:
            self._untold.add(live.id)
        else:
            self._untold.discard(live.id)
            live.reason, live.told = words, time.monotonic()
            self._record.runs.advance(live.id, status=RunStatus.RUNNING, reason=words, answer=False)

    def tell_the_rest(self, pipelines: dict[str, LivePipeline]) -> bool:
        """What had to wait; whether something still does."""
        for run_id in list(self._untold):
            live = pipelines.get(run_id)
            if live is None:
                self._untold.discard(run_id)
            else:
                self.tell(live)
        return bool(self._untold)

    def write(self, live: LivePipeline) -> None:
        """What was said; it is told, not decided by, so a failure harms nothing."""
        text, live.lines = "".join(live.lines).encode("utf-8", "replace"), []
        if not text:
            return
        try:
            self._record.logs.append(live.id, PIPELINE_LOG, self._record.logs.size(live.id, PIPELINE_LOG), text)
        except RookeryError as error:
            log.warning("The log of pipeline %s could not be written: %s", live.id, error)


def cause_of(record: Record, live: LivePipeline) -> dict[str, Any]:
    """Of the first step that failed, with its own words."""
    for node in live.plan.steps:
        row = live.steps[node]
        if row["phase"] == Phase.FAILED:
            run = record.runs.find(row["run_id"]) if row["run_id"] else None
            cause = dict((run or {}).get("error") or {"kind": CauseKind.USER_ERROR, "attempt": 1})
            cause["summary"] = f"Step '{live.plan.names[node]}' failed: {row['reason']}"
            return cause
    return {"kind": CauseKind.USER_ERROR, "summary": "A step was canceled, and the rest was not run.", "attempt": 1}
