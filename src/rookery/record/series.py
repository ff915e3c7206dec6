"""Series of metrics for charts: a range of one, in as many points as are asked for; and the small ones of a page of runs."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from sqlalchemy import Connection, func, select

from rookery.errors import RunNotFoundError, UserError
from rookery.record.database import Database
from rookery.record.downsampling import downsample
from rookery.record.metric_ranks import SEVERAL, rank_spans
from rookery.record.metric_values import read_json, read_packed
from rookery.record.run_rows import run_row
from rookery.record.schema import metric_blocks, metrics, runs
from rookery.record.series_blocks import block_values, block_xs
from rookery.record.series_ranks import series_by_rank

__all__ = ["AXES", "Series"]

AXES = ("step", "time", "index")
SERIES_KINDS = ("scalar", "list")
WHOLE = 4096  # values of a metric up to which a small series is made from all of them
_BATCH = 500


class Series:
    def __init__(self, db: Database) -> None:
        self._db = db

    def names(self, run_id: str) -> list[dict[str, Any]]:
        """Every metric of a run, in order of first appearance: name, kind, total, and its last value."""
        columns = (
            metrics.c.name, metrics.c.kind, metrics.c.total, metrics.c.last, metrics.c.last_value, metrics.c.last_step,
            metrics.c.last_time, metrics.c.rank,
        )  # fmt: skip
        query = select(*columns).where(metrics.c.run_id == run_id).order_by(metrics.c.id)
        with self._db.read() as conn:
            run_row(conn, run_id)
            return [
                {
                    "name": row.name,
                    "kind": row.kind,
                    "total": row.total,
                    "last": row.last
                    if row.last_step is None
                    else (math.nan if row.last_value is None else row.last_value),
                    "last_step": row.last_step,
                    "last_time": row.last_time,
                    "by_rank": row.rank == SEVERAL,
                }
                for row in conn.execute(query)
            ]

    def get(
        self,
        run_ids: Sequence[str],
        names: Optional[Sequence[str]],
        *,
        points: int = 1000,
        axis: str = "step",
        low: Optional[float] = None,
        high: Optional[float] = None,
        most: int = 20,
        by_rank: bool = False,
        ranks: Sequence[int] = (),
    ) -> list[dict[str, Any]]:
        """A Series of each run and name that there is, each with its `run`. Without names the first `most` of each run.

        by_rank: one of each rank that logged it, or only of these `ranks`, each with its `rank`.

        Raises:
            RunNotFoundError: one of the runs does not exist.
        """
        if axis not in AXES:
            raise UserError(f"x={axis!r:.40} does not exist. Known: {', '.join(AXES)}.")
        with self._db.read() as conn:
            _check_runs(conn, run_ids)
            found: list[dict[str, Any]] = []
            for run_id in dict.fromkeys(run_ids):
                query = select(metrics).where(metrics.c.run_id == run_id, metrics.c.kind.in_(SERIES_KINDS))
                if names is not None:
                    query = query.where(metrics.c.name.in_(list(names)))
                rows = conn.execute(query.order_by(metrics.c.id).limit(most)).all()
                for row in rows:
                    if by_rank or ranks:
                        found += series_by_rank(conn, run_id, row, points, axis, low, high, ranks)
                    else:
                        found.append(_series(conn, run_id, row, points, axis, low, high))
            return found

    def sparklines(
        self, run_ids: Sequence[str], names: Sequence[str], points: int = 40
    ) -> dict[str, dict[str, dict[str, list[Any]]]]:
        """run → metric → {"x": steps, "y": values}: a few points each, whatever there is; long ones are not read whole."""
        found: dict[str, dict[str, dict[str, list[Any]]]] = {}
        with self._db.read() as conn:
            for i in range(0, len(run_ids), _BATCH):
                query = select(metrics.c.id, metrics.c.run_id, metrics.c.name, metrics.c.total).where(
                    metrics.c.run_id.in_(list(run_ids[i : i + _BATCH])),
                    metrics.c.name.in_(list(names)),
                    metrics.c.kind.in_(SERIES_KINDS),
                )
                rows = conn.execute(query).all()
                short = {row.id: row for row in rows if row.total <= WHOLE}
                for metric_id, (xs, ys) in _whole(conn, list(short)).items():
                    small = downsample(xs, ys, points, None, None)
                    row = short[metric_id]
                    found.setdefault(row.run_id, {})[row.name] = {"x": small["xs"], "y": small["ys"]}
                for row in rows:
                    if row.total > WHOLE:
                        found.setdefault(row.run_id, {})[row.name] = _sparse(conn, row.id, row.total, points)
        return found

    def lines(
        self, run_id: str, name: Optional[str] = None
    ) -> Iterator[tuple[str, Optional[int], float, Any, Optional[int]]]:
        """(name, step, unix time, value, rank) of everything that is a series, a block in memory at a time."""
        query = select(metrics.c.id, metrics.c.name).where(metrics.c.run_id == run_id, metrics.c.kind.in_(SERIES_KINDS))
        if name is not None:
            query = query.where(metrics.c.name == name)
        with self._db.read() as conn:
            rows = conn.execute(query.order_by(metrics.c.id)).all()
        for metric_id, metric_name in rows:
            number = -1
            while True:
                # A connection for a block, not for the whole download: whoever reads slowly holds nothing.
                with self._db.read() as conn:
                    block = conn.execute(
                        select(metric_blocks)
                        .where(metric_blocks.c.metric_id == metric_id, metric_blocks.c.number > number)
                        .order_by(metric_blocks.c.number)
                        .limit(1)
                    ).first()
                if block is None:
                    break
                number = block.number
                values = read_json(block.values) if block.dtype == "j" else read_packed(block.dtype, block.values)
                steps = [None] * block.total if block.steps is None else read_packed("q", block.steps)
                times = read_packed("d", block.times)
                for rank, start, end in rank_spans(block.ranks, block.total):
                    for i in range(start, end):
                        yield metric_name, steps[i], times[i], values[i], rank


def _check_runs(conn: Connection, run_ids: Sequence[str]) -> None:
    wanted = list(dict.fromkeys(run_ids))
    there = {found for (found,) in conn.execute(select(runs.c.id).where(runs.c.id.in_(wanted)))}
    for run_id in wanted:
        if run_id not in there:
            raise RunNotFoundError(
                f"Run '{run_id:.255}' does not exist in this workspace. List them with `rookery ps --all`."
            )


def _series(
    conn: Connection, run_id: str, row: Any, points: int, axis: str, low: Optional[float], high: Optional[float]
) -> dict[str, Any]:
    xs, ys = _read(conn, row.id, axis)
    return {
        "run": run_id,
        "name": row.name,
        "kind": row.kind,
        "x": axis,
        "total": row.total,
        **downsample(xs, ys, points, low, high),
    }


def _read(conn: Connection, metric_id: int, axis: str) -> tuple[array[Any], array[Any]]:
    """All of one metric: x and y. What is no number (a text, null) is left out, but counts as an index."""
    xs: array[Any] = array("d")
    ys: array[Any] = array("d")
    before = 0
    query = select(metric_blocks).where(metric_blocks.c.metric_id == metric_id).order_by(metric_blocks.c.number)
    for block in conn.execution_options(stream_results=True).execute(query):
        places = block_xs(block, axis, before)
        before += block.total
        if block.dtype == "j":
            for x, value in zip(places, read_json(block.values)):
                if isinstance(value, (int, float)):
                    xs.append(x)
                    ys.append(float(value) if abs(value) < 1e308 or isinstance(value, float) else math.inf)
            continue
        xs.extend(places)
        ys.extend(block_values(block.dtype, block.values))
    return xs, ys


def _whole(conn: Connection, ids: Sequence[int]) -> dict[int, tuple[array[Any], array[Any]]]:
    found: dict[int, tuple[array[Any], array[Any]]] = {}
    before: dict[int, int] = {}
    for i in range(0, len(ids), _BATCH):
        query = (
            select(metric_blocks)
            .where(metric_blocks.c.metric_id.in_(list(ids[i : i + _BATCH])))
            .order_by(metric_blocks.c.metric_id, metric_blocks.c.number)
        )
        for block in conn.execute(query):
            xs, ys = found.setdefault(block.metric_id, (array("d"), array("d")))
            start = before.get(block.metric_id, 0)
            before[block.metric_id] = start + block.total
            if block.dtype == "j":
                continue
            xs.extend(block_xs(block, "step", start))
            ys.extend(block_values(block.dtype, block.values))
    return found


def _sparse(conn: Connection, metric_id: int, total: int, points: int) -> dict[str, list[Any]]:
    """Single values, evenly spread over the blocks, cut out by the database: a long metric is not read for a small picture."""
    columns = (metric_blocks.c.number, metric_blocks.c.total, metric_blocks.c.dtype)
    query = select(*columns).where(metric_blocks.c.metric_id == metric_id).order_by(metric_blocks.c.number)
    blocks, starts, before = conn.execute(query).all(), [], 0
    for block in blocks:
        starts.append(before)
        before += block.total
    if len(blocks) > points:
        chosen = sorted({len(blocks) * i // points for i in range(points)} | {len(blocks) - 1})
    else:
        chosen = list(range(len(blocks)))
    each = max(1, points // max(1, len(chosen)))
    xs: list[Any] = []
    ys: list[Any] = []
    cuts = []
    for i in range(each):
        place = (
            (metric_blocks.c.total * (i + 1) // each - 1) * 8 + 1 if each > 1 else (metric_blocks.c.total - 1) * 8 + 1
        )
        cuts += [
            func.substr(metric_blocks.c["values"], place, 8),
            func.substr(metric_blocks.c.steps, place, 8),
        ]
    numbers = [blocks[i].number for i in chosen]
    by_number = {block.number: (block, start) for block, start in zip(blocks, starts)}
    picked = select(metric_blocks.c.number, *cuts).where(
        metric_blocks.c.metric_id == metric_id, metric_blocks.c.number.in_(numbers), metric_blocks.c.dtype != "j"
    )
    for row in conn.execute(picked.order_by(metric_blocks.c.number)):
        block, start = by_number[row[0]]
        for i in range(each):
            value, step = row[1 + 2 * i], row[2 + 2 * i]
            index = block.total * (i + 1) // each - 1 if each > 1 else block.total - 1
            if index < 0 or value is None or len(value) != 8:
                continue
            y = struct.unpack("<" + block.dtype, value)[0]
            xs.append(start + index if step is None or len(step) != 8 else struct.unpack("<q", step)[0])
            ys.append(float(y) if math.isfinite(y) else None)
    return {"x": xs, "y": ys}
