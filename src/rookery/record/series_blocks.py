"""Blocks of metrics as arrays of float64, as series are made from them."""

from __future__ import annotations

import sys
from array import array
from typing import Any

__all__ = ["block_values", "block_xs"]


def block_xs(block: Any, axis: str, before: int) -> array[Any]:
    """before: how many values the metric has before this block; what has no steps is counted."""
    if axis == "time":
        return block_values("d", block.times)
    if axis == "step" and block.steps is not None:
        return block_values("q", block.steps)
    return array("d", range(before, before + block.total))


def block_values(dtype: str, data: bytes) -> array[Any]:
    numbers: array[Any] = array(dtype)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers if dtype == "d" else array("d", numbers)
