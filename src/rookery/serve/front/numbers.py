"""How long requests take, coarsely: a histogram for every ten seconds and version, kept until the keeper has it."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

__all__ = ["BUCKET_S", "Numbers", "bin_of", "edge_of"]

BUCKET_S = 10
KEEP = 4320  # buckets of one version that wait for a keeper: half a day
_PER_DOUBLING = 8  # bins; neighbours differ by nine per cent


class Numbers:
    def __init__(self) -> None:
        self._open: dict[str, dict[str, Any]] = {}
        self._closed: deque[dict[str, Any]] = deque(maxlen=KEEP)
        self._number = 0
        self.requests = self.errors = 0

    def add(self, version: str, total_ms: float, run_ms: float, queue_ms: float, batch: int, is_error: bool) -> None:
        start = int(time.time()) // BUCKET_S * BUCKET_S
        bucket = self._open.get(version)
        if bucket is None or bucket["start"] != start:
            bucket = self._begin(version, start)
        bucket["requests"] += 1
        bucket["errors"] += is_error
        bucket["run_ms"] += run_ms
        bucket["queue_ms"] += queue_ms
        bucket["batch"] += batch
        place = bin_of(total_ms)
        bins = bucket["bins"]
        bins[place] = bins.get(place, 0) + 1
        self.requests += 1
        self.errors += is_error

    def after(self, number: int) -> list[dict[str, Any]]:
        """Buckets with a larger number; those that time has closed, and no others."""
        now = int(time.time()) // BUCKET_S * BUCKET_S
        for version in [v for v, bucket in self._open.items() if bucket["start"] != now]:
            self._close(version)
        return [bucket for bucket in self._closed if bucket["number"] > number]

    def forget(self, number: int) -> None:
        """The keeper has all up to this one."""
        while self._closed and self._closed[0]["number"] <= number:
            self._closed.popleft()

    def _begin(self, version: str, start: int) -> dict[str, Any]:
        if version in self._open:
            self._close(version)
        made: dict[str, Any] = {"version": version, "start": start, "requests": 0, "errors": 0, "bins": {}}
        made.update(run_ms=0.0, queue_ms=0.0, batch=0)
        self._open[version] = made
        return made

    def _close(self, version: str) -> None:
        bucket = self._open.pop(version)
        self._number += 1
        bucket["number"] = self._number
        bucket["bins"] = {str(place): count for place, count in bucket["bins"].items()}
        self._closed.append(bucket)


def bin_of(milliseconds: float) -> int:
    """Microseconds on a scale of doublings, eight bins each."""
    return int(math.log2(max(1.0, milliseconds * 1000.0)) * _PER_DOUBLING)


def edge_of(place: int) -> float:
    """The middle of a bin in milliseconds."""
    return 2.0 ** ((place + 0.5) / _PER_DOUBLING) / 1000.0
