"""What Clean Missing Data learns from a table: steps that `transforming.apply` does, to this table or another."""

from __future__ import annotations

import math
from typing import Any

from rookery_tabular.frames import Frame, kind_of
from rookery_tabular.selecting import choose
from rookery_vision.errors import InvalidDatasetError, NotInRangeValueError, by_id

__all__ = ["learn_cleaning"]


def learn_cleaning(
    frame: Frame,
    columns: str,
    ratios: tuple[float, float],
    mode: str,
    replacement: str,
    indicator: bool,
    removes_empty: bool,
) -> list[dict[str, Any]]:
    """
    Raises:
        ModuleError: the ratios are the wrong way round, or the mode does not fit a column.
    """
    if ratios[0] > ratios[1]:
        raise NotInRangeValueError(
            f"'Minimum missing value ratio' is {ratios[0]}, above the maximum of {ratios[1]}. Swap them."
        )
    data = frame.data
    chosen = []
    for name in choose(frame, columns, "Columns to be cleaned"):
        share = float(data[name].isna().mean()) if len(data) else 0.0
        if ratios[0] <= share <= ratios[1]:
            chosen.append(name)
    marks = [{"do": "mark", "column": n, "as": _mark(data, n)} for n in chosen if data[n].isna().any()]
    return [*(marks if indicator else []), *_steps(data, chosen, mode, replacement, removes_empty)]


def _steps(data: Any, chosen: list[str], mode: str, replacement: str, removes_empty: bool) -> list[dict[str, Any]]:
    if mode == "Remove entire row":
        return [{"do": "drop_rows", "columns": chosen}]
    if mode == "Remove entire column":
        gone = [n for n in chosen if data[n].isna().any()]
        if len(gone) == len(data.columns):
            raise InvalidDatasetError(
                "Every column misses something: none would be left. Choose another cleaning mode."
            )
        return [{"do": "drop_columns", "columns": gone}]
    steps: list[dict[str, Any]] = []
    for name in chosen:
        known = data[name].dropna()
        if mode == "Custom substitution value":
            steps.append({"do": "fill", "column": name, "value": _as_kind(data[name], name, replacement)})
        elif len(known) == 0:
            if removes_empty:
                steps.append({"do": "drop_columns", "columns": [name]})
        else:
            steps.append({"do": "fill", "column": name, "value": _typical(known, name, mode)})
    return steps


def _typical(known: Any, name: str, mode: str) -> Any:
    kind = kind_of(known)
    if mode == "Replace with mode":
        # Of several that are as frequent the smallest: the same table gives the same value.
        values = known.astype(str).mode() if kind == "text" else known.mode()
        return str(values.iloc[0]) if kind in ("text", "time") else _number(values.iloc[0])
    if kind != "number":
        raise by_id("InvalidColumnType")(
            f"'{mode}' needs numbers, and column '{name:.200}' is a {kind}. Choose columns with type:number, or 'Replace with mode'."
        )
    finite = known.astype("float64")[lambda x: x.abs() < math.inf]
    typical = finite.mean() if mode == "Replace with mean" else finite.median()
    if not len(finite) or not math.isfinite(typical):
        raise by_id("Infinity")(
            f"Column '{name:.200}' has no {mode.split()[-1]}: its values are infinite. Clean them first."
        )
    return _number(typical)


def _as_kind(values: Any, name: str, replacement: str) -> Any:
    kind = kind_of(values)
    if kind == "text" and values.isna().all():
        kind = "text"
    try:
        if kind == "number":
            return _number(float(replacement))
        if kind == "switch":
            return {"true": True, "1": True, "false": False, "0": False}[replacement.strip().lower()]
        if kind == "time":
            import pandas

            return pandas.Timestamp(replacement).isoformat()
    except (ValueError, KeyError, OverflowError):
        raise by_id("CouldNotConvertColumn")(
            f"'Replacement value' is {replacement!r:.100}, which fits no column of kind {kind} ('{name:.100}'). Choose columns of one kind, "
            "or a value that fits."
        ) from None
    return replacement


def _number(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _mark(data: Any, name: str) -> str:
    free = f"{name}_IsMissing"
    while free in data.columns:
        free += "_"
    return free
