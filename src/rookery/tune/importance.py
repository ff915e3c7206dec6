"""How much each hyperparameter has to do with the result: a share of the spread that its value alone explains. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["importances"]

LEAST = 4  # results; of fewer nothing can be said
_BINS = 4


def importances(trials: Sequence[tuple[Mapping[str, Any], float]]) -> dict[str, float]:
    """parameter → 0 (nothing) to 1 (all), from pairs of values and best metric; empty where there are too few.

    Results count by rank, so that one that went astray does not decide. Numbers with many values are put into bins of equal
    size. What bins explain by chance alone is taken off.
    """
    known = [(values, result) for values, result in trials if math.isfinite(result)]
    if len(known) < LEAST:
        return {}
    ranks = _ranks([result for _, result in known])
    names = list(dict.fromkeys(name for values, _ in known for name in values))
    return {name: _explained([values.get(name) for values, _ in known], ranks) for name in names}


def _explained(values: list[Any], ranks: list[float]) -> float:
    groups: dict[Any, list[float]] = {}
    for key, rank in zip(_keys(values), ranks):
        groups.setdefault(key, []).append(rank)
    total, count = len(ranks), len(groups)
    if count < 2 or count >= total:
        return 0.0
    mean = sum(ranks) / total
    spread = sum((rank - mean) ** 2 for rank in ranks)
    if not spread:
        return 0.0
    between = sum(len(group) * (sum(group) / len(group) - mean) ** 2 for group in groups.values())
    # epsilon squared: the share explained, less what as many groups would explain by chance
    within = (spread - between) / (total - count)
    return max(0.0, min(1.0, (between - (count - 1) * within) / spread))


def _keys(values: list[Any]) -> list[Any]:
    is_number = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    if is_number and len(set(values)) > _BINS:
        ranks = _ranks([float(v) for v in values])
        bins = max(2, min(_BINS, len(values) // 2))
        return [min(int(rank * bins / len(values)), bins - 1) for rank in ranks]
    return [json.dumps(value, sort_keys=True, default=str) for value in values]


def _ranks(values: list[float]) -> list[float]:
    """From 0; equal values share the middle of their places."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = (i + j) / 2
        i = j + 1
    return ranks
