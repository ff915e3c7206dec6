"""How many scoring processes a revision wants, by how much there is to do. No clock and no processes of its own."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

__all__ = ["Scaling"]

WINDOW_S = 5.0  # what there is to do is averaged over so long
STEADY_S = 60.0  # fewer would have done for so long: one is taken away
STEP_S = 10.0  # between two that are taken away


class Scaling:
    """Promises: `wanted` is never outside of the bounds. More are wanted as soon as the average says so, fewer slowly, one at a time.

    Args:
        told: of desired.json: min, max, share (of the time that a process may be busy, 0 to 1), refresh_s (between two decisions).
        now: seconds of any clock that goes on.
        wanted: how many there are already.
    """

    def __init__(self, told: dict[str, Any], now: float, wanted: int = 0) -> None:
        self.least, self.most = int(told["min"]), int(told["max"])
        self.wanted = max(self.least, min(self.most, wanted))
        self.utilization = 0.0
        self._share, self._refresh_s = float(told["share"]), float(told["refresh_s"])
        self._began = self._decided = self._shrunk = now
        self._seen: deque[tuple[float, float]] = (
            deque()
        )  # (when, how many processes had something to do, or should have)
        self._needed: deque[tuple[float, int]] = deque()  # (when, how many would have done)

    def look(self, now: float, demand: float) -> int:
        """How many are wanted now. To be called a few times a second."""
        self._seen.append((now, demand))
        while self._seen[0][0] <= now - WINDOW_S:
            self._seen.popleft()
        if now - self._decided < self._refresh_s:
            return self.wanted
        self._decided = now
        mean = sum(demand for _, demand in self._seen) / len(self._seen)
        self.utilization = mean / self.wanted
        needed = max(self.least, min(self.most, math.ceil(mean / self._share - 1e-9)))
        self._needed.append((now, needed))
        while self._needed[0][0] <= now - STEADY_S:
            self._needed.popleft()
        if needed > self.wanted and now - self._began >= self._refresh_s:
            self.wanted = needed
        elif self._may_shrink(now):
            self.wanted, self._shrunk = self.wanted - 1, now
        return self.wanted

    def _may_shrink(self, now: float) -> bool:
        if now - self._began < STEADY_S or now - self._shrunk < STEP_S:
            return False
        return max(needed for _, needed in self._needed) < self.wanted

    def describe(self) -> dict[str, Any]:
        told = {"min_replicas": self.least, "max_replicas": self.most, "wanted": self.wanted}
        return {**told, "utilization": round(self.utilization, 3)}
