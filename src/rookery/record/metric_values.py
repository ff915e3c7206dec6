"""Metric values as bytes and back: float64 and int64 packed, everything else as lines of JSON that can be appended to.

No work per value when packed blocks come in: bytes are checked for their length, and kept.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import UserError

__all__ = [
    "Chunk",
    "chunk_from_block",
    "chunk_of_items",
    "chunk_of_values",
    "latest_in",
    "read_json",
    "read_packed",
]

MAX_BLOCK = 10_000_000
_INT64 = 2**63


@dataclass
class Chunk:
    """Values to append to one metric. `count` is how many values, rows or items; `times` has one per value,
    or per item.
    """

    count: int
    dtype: str
    values: bytes
    steps: Optional[bytes]
    times: bytes
    last: Any
    rank: Optional[int] = None  # who logged them, where a run has several ranks


def chunk_from_block(block: Any, rank: Optional[int] = None) -> Chunk:
    """A Block of the protocol, or UserError that says what is wrong with it."""
    if not isinstance(block, dict):
        raise UserError(f"A block must be an object, not {type(block).__name__}.")
    count, dtype, values = block.get("n"), block.get("dtype"), block.get("values")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MAX_BLOCK:
        raise UserError(f"Block: n={count!r:.40} must be between 1 and {MAX_BLOCK}.")
    times = _decode(block.get("times"), count, "times")
    steps = None if block.get("steps") is None else _decode(block["steps"], count, "steps")
    if dtype == "j":
        if not isinstance(values, list) or len(values) != count:
            raise UserError(f"Block: dtype 'j' needs a list of {count} values.")
        return Chunk(count, "j", _json_line(values), steps, times, values[-1], rank)
    if dtype not in ("d", "q"):
        raise UserError(f"Block: dtype={dtype!r:.40} does not exist. Known: d, q, j.")
    data = _decode(values, count, "values")
    return Chunk(count, dtype, data, steps, times, struct.unpack_from("<" + dtype, data, 8 * (count - 1))[0], rank)


def chunk_of_values(
    values: Sequence[Any],
    steps: Optional[Sequence[Optional[int]]],
    times: Sequence[float],
    rank: Optional[int] = None,
) -> Chunk:
    """Values one by one, packed where all are of one number type."""
    packed_steps = None if steps is None or None in steps else _pack("q", steps)
    packed_times = _pack("d", times)
    kinds = set(map(type, values))
    if kinds == {float}:
        return Chunk(len(values), "d", _pack("d", values), packed_steps, packed_times, values[-1], rank)
    if kinds == {int} and all(-_INT64 <= v < _INT64 for v in values):
        return Chunk(len(values), "q", _pack("q", values), packed_steps, packed_times, values[-1], rank)
    return Chunk(len(values), "j", _json_line(list(values)), packed_steps, packed_times, values[-1], rank)


def chunk_of_items(items: Sequence[Any], count: int, times: Sequence[float]) -> Chunk:
    """Rows, tables, images …: one JSON value per item; a table's item holds many rows, so `count` is given."""
    return Chunk(count, "j", _json_line(list(items)), None, _pack("d", times), None)


def latest_in(chunk: Chunk, before: int) -> Optional[tuple[float, int, float]]:
    """(value, step, time) of the value with the largest step, then time, then value; None where the last is no number.

    before: how many values the metric had; one without steps counts them.
    """
    if not isinstance(chunk.last, (int, float)) or len(chunk.times) < 8:
        return None
    last_time = struct.unpack_from("<d", chunk.times, len(chunk.times) - 8)[0]
    if chunk.steps is None:
        return _float(chunk.last), before + chunk.count - 1, last_time
    if chunk.count == 1:
        return _float(chunk.last), struct.unpack("<q", chunk.steps)[0], last_time
    steps = read_packed("q", chunk.steps)
    top = max(steps)
    if chunk.dtype == "j" or (steps[-1] == top and steps.count(top) == 1):
        return _float(chunk.last), steps[-1], last_time
    values, times = read_packed(chunk.dtype, chunk.values), read_packed("d", chunk.times)
    time, value = max((times[i], float(values[i])) for i, step in enumerate(steps) if step == top)
    return value, top, time


def _float(value: float) -> float:
    """An integer beyond all floats is infinite here; it is stored as it is."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def read_packed(dtype: str, data: bytes) -> list[Any]:
    """The numbers of a packed block."""
    numbers = array(dtype)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def read_json(data: bytes) -> list[Any]:
    """The values of a JSON block: its lines are lists, one after the other."""
    result: list[Any] = []
    for line in data.splitlines():
        result.extend(json.loads(line))
    return result


def _json_line(values: list[Any]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"


def _pack(dtype: str, numbers: Sequence[Any]) -> bytes:
    packed = array(dtype, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _decode(text: Any, count: int, what: str) -> bytes:
    if not isinstance(text, str):
        raise UserError(f"Block: {what} must be base64 text.")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UserError(f"Block: {what} is not valid base64.") from None
    if len(data) != 8 * count:
        raise UserError(f"Block: {what} has {len(data)} bytes; n={count} needs {8 * count}.")
    return data
