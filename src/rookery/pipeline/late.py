"""The driver as a keeper has it at its start: the rest of the room is imported when the first pipeline needs it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Optional

from rookery.record import Record
from rookery.spec.run import RunKind, RunSpec

if TYPE_CHECKING:
    from rookery.pipeline.driver import PipelineDriver

__all__ = ["LatePipelineDriver"]


class LatePipelineDriver:
    """`engine.drivers.Driver`; everything is done by a `PipelineDriver`."""

    kind = RunKind.PIPELINE

    def __init__(self, record: Record, controller: Any) -> None:
        self._record, self._controller = record, controller
        self._driver: Optional[PipelineDriver] = None
        self._lock = threading.Lock()

    def start(self) -> None:
        if self._record.runs.driven(self.kind) or self._record.schedules.next_due() is not None:
            self.real()

    def stop(self) -> None:
        if self._driver is not None:
            self._driver.stop()

    def check(self, spec: RunSpec) -> None:
        self.real().check(spec)

    def submitted(self, run_id: str) -> None:
        self.real().submitted(run_id)

    def cancel(self, run_id: str) -> None:
        self.real().cancel(run_id)

    def count(self) -> int:
        return 0 if self._driver is None else self._driver.count()

    def real(self) -> PipelineDriver:
        """The driver itself, started."""
        with self._lock:
            if self._driver is None:
                from rookery.pipeline.driver import PipelineDriver

                driver = PipelineDriver(self._record, self._controller)
                driver.start()
                self._driver = driver
            return self._driver
