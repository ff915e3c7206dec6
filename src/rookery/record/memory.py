"""What the writer remembers of the rows that it writes again and again, so that it need not read them first.

There is one writer (a lock in this process, a lease or a lock of the database between processes), so what it wrote is what is
there. It is all forgotten when a transaction fails, and when a connection is made anew: somebody else may have written meanwhile.
Whoever changes such rows another way (a run is deleted, or removed) says so: `forget`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rookery.record.metric_batch import MetricState

__all__ = ["Memory"]

MAX_METRICS = 2000  # each holds at most one growing block, 4 KB
MAX_RUNS = 10_000


class Memory:
    """To be used inside of a write transaction only: the lock of the writer is its lock."""

    def __init__(self) -> None:
        self._metrics: OrderedDict[str, dict[str, MetricState]] = OrderedDict()
        self._num_metrics = 0
        self.kinds: dict[str, str] = {}  # run → its kind; only of runs that exist and are not deleted

    def metrics_of(self, run_id: str) -> dict[str, MetricState]:
        """By name; the caller may read it and change what is in it, and adds with `add_metric`."""
        found = self._metrics.get(run_id)
        if found is None:
            found = self._metrics[run_id] = {}
        else:
            self._metrics.move_to_end(run_id)
        return found

    def add_metric(self, run_id: str, name: str, state: MetricState) -> None:
        known = self.metrics_of(run_id)
        self._num_metrics += name not in known
        known[name] = state

    def forget(self, run_id: str) -> None:
        self.kinds.pop(run_id, None)
        self._num_metrics -= len(self._metrics.pop(run_id, ()))

    def forget_all(self) -> None:
        self._metrics.clear()
        self._num_metrics = 0
        self.kinds.clear()

    def trim(self) -> None:
        """After a transaction: the runs that were written to longest ago go first."""
        while self._num_metrics > MAX_METRICS or len(self._metrics) > MAX_RUNS:
            _, gone = self._metrics.popitem(last=False)
            self._num_metrics -= len(gone)
        if len(self.kinds) > MAX_RUNS:
            self.kinds.clear()
