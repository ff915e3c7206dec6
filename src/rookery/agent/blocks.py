"""Packing journal records for shipping: scalars into blocks, the rest in order. Pure."""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

__all__ = ["Batch", "make_batches", "make_blocks"]

INT64 = 2**63
MAX_ROWS = 50000
_METRICS = ("m", "l", "r", "t", "d")


@dataclass
class Batch:
    """One POST: everything of a journal up to `end`. An upload, if there is one, goes before it."""

    end: int = 0
    blocks: list[dict[str, Any]] = field(default_factory=list)
    records: list[list[Any]] = field(default_factory=list)
    upload: Optional[list[Any]] = None
    damaged: int = 0


class _Open:
    """A batch being filled."""

    def __init__(self) -> None:
        self.scalars: dict[tuple[Optional[str], str], tuple[list[Any], list[Any], list[float]]] = {}
        self.others: set[tuple[Optional[str], str]] = set()
        self.records: list[list[Any]] = []
        self.has_children = False
        self.rows = 0
        self.end = 0
        self.damaged = 0

    def close(self) -> Batch:
        blocks = [_block(run, name, *columns) for (run, name), columns in self.scalars.items()]
        return Batch(self.end, blocks, self.records, None, self.damaged)


def make_batches(rows: Iterable[tuple[int, Optional[list[Any]]]]) -> list[Batch]:
    """Batches in the order of the journal.

    Within a batch the keeper may apply blocks and records in any order, so a batch is cut wherever that
    would show: a metric that is logged both as a scalar and otherwise, a child that is created, an upload.
    """
    batches: list[Batch] = []
    now = _Open()

    def cut() -> _Open:
        if now.end:
            batches.append(now.close())
        return _Open()

    for end, record in rows:
        if record is None:
            now.damaged += 1
        elif record[0] == "u":
            now = cut()
            batches.append(Batch(end, upload=record))
            continue
        elif record[0] in ("c", "s"):
            if now.scalars:
                now = cut()
            now.has_children = True
            now.records.append(record)
        elif record[0] in _METRICS:
            key = (record[1], record[2])
            if _order_shows(now, key, record) or now.rows >= MAX_ROWS:
                now = cut()
            now.rows += 1
            _take(now, key, record)
        else:
            now.records.append(record)
        now.end = end
    cut()
    return batches


def _order_shows(batch: _Open, key: tuple[Optional[str], str], record: list[Any]) -> bool:
    if record[0] != "m":
        return key in batch.scalars
    if key in batch.others or batch.has_children:
        return True
    before = batch.scalars.get(key)
    # A block has a step for every value or for none.
    return before is not None and (before[1][0] is None) != (record[4] is None)


def _take(batch: _Open, key: tuple[Optional[str], str], record: list[Any]) -> None:
    if record[0] != "m":
        batch.others.add(key)
        batch.records.append(record)
        return
    columns = batch.scalars.get(key)
    if columns is None:
        columns = batch.scalars[key] = ([], [], [])
    columns[0].append(record[3])
    columns[1].append(record[4])
    columns[2].append(record[5])


def _block(run: Optional[str], name: str, values: list[Any], steps: list[Any], times: list[float]) -> dict[str, Any]:
    dtype, packed = _pack_values(values)
    return {
        "run": run,
        "name": name,
        "n": len(values),
        "dtype": dtype,
        "values": packed,
        "steps": _pack("q", steps) if steps[0] is not None else None,
        "times": _pack("d", times),
    }


def _pack_values(values: list[Any]) -> tuple[str, Any]:
    kinds = set(map(type, values))
    if kinds == {float}:
        return "d", _pack("d", values)
    if kinds == {int} and all(-INT64 <= v < INT64 for v in values):
        return "q", _pack("q", values)
    return "j", values


def _pack(code: str, values: list[Any]) -> str:
    data = array(code, values)
    if sys.byteorder == "big":
        data.byteswap()
    return base64.b64encode(data.tobytes()).decode("ascii")


def make_blocks(rows: list[tuple[str, float, int, float]]) -> list[dict[str, Any]]:
    """Blocks of the run's own scalars from (name, value, step, time), one per name."""
    named: dict[str, tuple[list[Any], list[Any], list[float]]] = {}
    for name, value, step, time in rows:
        columns = named.setdefault(name, ([], [], []))
        columns[0].append(value)
        columns[1].append(step)
        columns[2].append(time)
    return [_block(None, name, *columns) for name, columns in named.items()]
