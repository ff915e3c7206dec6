"""How long frames of a page may take, the same for every page that is measured."""

from __future__ import annotations

import statistics

from benchmarks.result import Result

__all__ = ["frame_results"]

# A frame of a screen with 60 Hz is 16.7 ms. What Chromium tells of its length varies by half a millisecond without a screen.
MEDIAN_GOAL_MS = 17.5
# Two frames: of twenty, one may come a frame late.
P95_GOAL_MS = 34.0


def frame_results(what: str, times_ms: list[float]) -> list[Result]:
    """Median and 95th percentile of what was measured between frames."""
    late = sorted(times_ms)[min(len(times_ms) - 1, int(len(times_ms) * 0.95))]
    return [
        Result(f"{what}, median frame", statistics.median(times_ms), "ms", MEDIAN_GOAL_MS),
        Result(f"{what}, 95 % of frames", late, "ms", P95_GOAL_MS),
    ]
