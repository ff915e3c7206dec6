"""What Normalize Data learns from a table: a scale for each column."""

from __future__ import annotations

import math
from typing import Any

from rookery_tabular.frames import Frame, kind_of
from rookery_tabular.selecting import choose
from rookery_vision.errors import by_id

__all__ = ["learn_scale"]


def learn_scale(frame: Frame, columns: str, method: str, constant_to_zero: bool) -> list[dict[str, Any]]:
    """
    Raises:
        InvalidColumnTypeError, NotEnoughNormalizedColumnsError: a column is not of numbers; there is none.
    """
    import numpy

    try:
        chosen = choose(frame, columns, "Columns to transform")
    except by_id("NoColumnsSelected") as error:
        raise by_id("NotEnoughNormalizedColumns")(f"There is no column of numbers to transform. {error}") from None
    steps = []
    for name in chosen:
        values = frame.data[name]
        if kind_of(values) != "number":
            raise by_id("InvalidColumnType")(
                f"Column '{name:.200}' is a {kind_of(values)}. Only numbers are brought to a scale: choose with type:number."
            )
        known = values.dropna().to_numpy(dtype="float64")
        known = known[numpy.isfinite(known)]
        a, b = _scale(known, method, name)
        is_constant = len(known) > 0 and float(known.min()) == float(known.max()) and method in ("ZScore", "MinMax")
        steps.append(
            {
                "do": "scale",
                "column": name,
                "method": method,
                "a": a,
                "b": b,
                "constant": (0.0 if constant_to_zero else None) if is_constant else False,
            }
        )
    return steps


def _scale(known: Any, method: str, name: str) -> tuple[float, float]:
    """(what is taken away, what it is divided by)"""
    if len(known) == 0 or method in ("Logistic", "Tanh"):
        return 0.0, 1.0
    if method == "LogNormal":
        if known.min() <= 0:
            raise by_id("NotInRangeValue")(
                f"LogNormal needs numbers above 0; column '{name:.200}' has {known.min():g}. Choose another method or other columns."
            )
        import numpy

        logs = numpy.log(known)
        return float(logs.mean()), float(logs.std()) or 1.0
    if method == "MinMax":
        a, b = float(known.min()), float(known.max()) - float(known.min())
    else:
        a, b = float(known.mean()), float(known.std())
    return a, b if math.isfinite(b) and b > 0 else 1.0
