"""Who logged the values of a block, in runs of several ranks: pairs of int32, a rank and how many values in a row are its.

A run of one rank has none of it: its blocks have null there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Optional

__all__ = ["SEVERAL", "UNKNOWN", "add_rank", "merge_rank", "rank_spans", "ranks_of"]

UNKNOWN = -1  # in a block: of a value whose rank nobody said
SEVERAL = -1  # of a metric: not all its values are one rank's
_PAIR = struct.Struct("<ii")


def ranks_of(rank: Optional[int], count: int) -> Optional[bytes]:
    """Of a new block, all of whose values one rank logged."""
    return None if rank is None else _PAIR.pack(rank, count)


def add_rank(ranks: Optional[bytes], before: int, rank: Optional[int], count: int) -> Optional[bytes]:
    """Of a block that had `before` values and gets `count` more."""
    if ranks is None:
        if rank is None:
            return None
        ranks = _PAIR.pack(UNKNOWN, before)
    told = UNKNOWN if rank is None else rank
    last, length = _PAIR.unpack_from(ranks, len(ranks) - _PAIR.size)
    if last == told:
        return ranks[: -_PAIR.size] + _PAIR.pack(last, length + count)
    return ranks + _PAIR.pack(told, count)


def merge_rank(have: Optional[int], total: int, rank: Optional[int]) -> Optional[int]:
    """Of a metric that had `total` values and gets more."""
    return rank if total == 0 or have == rank else SEVERAL


def rank_spans(ranks: Optional[bytes], total: int) -> Iterator[tuple[Optional[int], int, int]]:
    """(rank, or None where nobody said, first, end) of each stretch of a block of `total` values."""
    if ranks is None:
        yield None, 0, total
        return
    start = 0
    for rank, count in _PAIR.iter_unpack(ranks):
        yield None if rank == UNKNOWN else rank, start, start + count
        start += count
