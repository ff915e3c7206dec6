"""A million points as what a chart can show: of every bucket the smallest and the largest, in their order, so peaks stay.

No work per value in Python where it can be helped: slices, `min`, `max` and `sum` of arrays run in C.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Optional

__all__ = ["downsample"]

PIECE = 65536


def downsample(
    xs: array[Any], ys: array[Any], points: int, low: Optional[float], high: Optional[float]
) -> dict[str, Any]:
    """What lies within [low, high] of x, as at most `points` points.

    Returns:
        `xs`, `ys` (None where a value is not finite), `in_range`, `sampled`, `holes`, and `low`, `high` of the finite values.
    """
    if len(xs) > 1 and not _is_sorted(xs):
        order = sorted(range(len(xs)), key=xs.__getitem__)
        xs = array(xs.typecode, map(xs.__getitem__, order))
        ys = array(ys.typecode, map(ys.__getitem__, order))
    start = 0 if low is None else bisect_left(xs, low)
    end = len(xs) if high is None else bisect_right(xs, high)
    end = max(start, end)
    count = end - start
    kept: Sequence[int] = range(start, end)
    if count <= points:
        holes, smallest, largest = _extent(ys[start:end])
    else:
        kept, holes, smallest, largest = _peaks(ys, start, end, max(1, points // 2))
    return {
        "xs": [xs[i] for i in kept],
        "ys": [ys[i] if math.isfinite(ys[i]) else None for i in kept],
        "in_range": count,
        "sampled": count > points,
        "holes": holes,
        "low": smallest,
        "high": largest,
    }


def _is_sorted(numbers: array[Any]) -> bool:
    """Sorting what is sorted is one pass in C; in pieces, which overlap by one, so that little of it is in memory as objects."""
    for start in range(0, len(numbers), PIECE):
        part = numbers[start : start + PIECE + 1].tolist()
        if part != sorted(part):
            return False
    return True


def _peaks(
    ys: array[Any], start: int, end: int, buckets: int
) -> tuple[list[int], int, Optional[float], Optional[float]]:
    """Indexes of the smallest and the largest of each bucket, the first and the last of all among them; and the extent."""
    count, holes = end - start, 0
    kept: set[int] = {start, end - 1}
    lows: list[float] = []
    highs: list[float] = []
    for number in range(buckets):
        a, b = start + count * number // buckets, start + count * (number + 1) // buckets
        part = ys[a:b]
        missing, low, high = _extent(part)
        holes += missing
        if missing:  # the gap is to be seen
            kept.add(a + next(i for i, y in enumerate(part) if not math.isfinite(y)))
        if low is not None and high is not None:
            kept.add(a + part.index(low))
            kept.add(a + part.index(high))
            lows.append(low)
            highs.append(high)
    return sorted(kept), holes, min(lows, default=None), max(highs, default=None)


def _extent(part: Sequence[float]) -> tuple[int, Optional[float], Optional[float]]:
    """(how many are not finite, the smallest and the largest of the others)."""
    if not part:
        return 0, None, None
    total = len(part)
    if not math.isfinite(sum(part)):
        part = [y for y in part if math.isfinite(y)]
        if not part:
            return total, None, None
    return total - len(part), min(part), max(part)
