"""Series of a metric apart by the rank that logged its values."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, select

from rookery.record.downsampling import downsample
from rookery.record.metric_ranks import rank_spans
from rookery.record.metric_values import read_json
from rookery.record.schema import metric_blocks
from rookery.record.series_blocks import block_values, block_xs

__all__ = ["MOST_RANKS", "series_by_rank"]

MOST_RANKS = 64  # curves of one metric in one answer; the lowest ranks come first


def series_by_rank(
    conn: Connection,
    run_id: str,
    row: Any,
    points: int,
    axis: str,
    low: Optional[float],
    high: Optional[float],
    wanted: Sequence[int],
) -> list[dict[str, Any]]:
    """A Series of each rank (of those that are wanted, else all), with its `rank`, null where nobody said whose values they are,
    and how many `ranks` there are.
    """
    found = _read(conn, row.id, axis)
    chosen = sorted(found, key=lambda rank: (rank is None, rank or 0))
    if wanted:
        chosen = [rank for rank in chosen if rank in wanted]
    return [
        {
            "run": run_id,
            "name": row.name,
            "kind": row.kind,
            "x": axis,
            "total": found[rank][2],
            "rank": rank,
            "ranks": len(found),
            **downsample(found[rank][0], found[rank][1], points, low, high),
        }
        for rank in chosen[:MOST_RANKS]
    ]


def _read(conn: Connection, metric_id: int, axis: str) -> dict[Optional[int], tuple[array[Any], array[Any], int]]:
    """rank → x, y, how many values. What has no step counts from 0 within its rank, so that curves lie over each other."""
    found: dict[Optional[int], tuple[array[Any], array[Any], int]] = {}
    query = select(metric_blocks).where(metric_blocks.c.metric_id == metric_id).order_by(metric_blocks.c.number)
    for block in conn.execution_options(stream_results=True).execute(query):
        is_counted = axis == "index" or (axis == "step" and block.steps is None)
        all_xs = None if is_counted else block_xs(block, axis, 0)
        values = read_json(block.values) if block.dtype == "j" else block_values(block.dtype, block.values)
        for rank, start, end in rank_spans(block.ranks, block.total):
            xs, ys, before = found.get(rank) or (array("d"), array("d"), 0)
            found[rank] = (xs, ys, before + end - start)
            part = array("d", range(before, before + end - start)) if all_xs is None else all_xs[start:end]
            if isinstance(values, array):
                xs.extend(part)
                ys.extend(values[start:end])
                continue
            for x, value in zip(part, values[start:end]):
                if isinstance(value, (int, float)):
                    xs.append(x)
                    ys.append(float(value) if abs(value) < 1e308 or isinstance(value, float) else math.inf)
    return found
