"""What is done to tables, as data: written by Clean Missing Data and Normalize Data, read by Apply Transformation. Never a pickle."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from rookery_tabular.frames import Frame, kind_of
from rookery_vision.errors import InvalidTransformationDirectoryError, by_id
from rookery_vision.formats.meta import read_meta, write_meta

__all__ = ["apply", "read_steps", "write_steps"]

KIND, STEPS, TYPE = "TransformationDirectory", "_transforms.json", "Table"
DOES = ("mark", "drop_rows", "drop_columns", "fill", "scale")


def write_steps(folder: str, steps: list[dict[str, Any]]) -> None:
    with open(os.path.join(folder, STEPS), "w", encoding="utf-8") as f:
        json.dump(steps, f, ensure_ascii=False, allow_nan=False)
    write_meta(folder, KIND, transform_type=TYPE, transforms=STEPS)


def read_steps(folder: str) -> list[dict[str, Any]]:
    """
    Raises:
        InvalidTransformationDirectoryError: it is none, or one of pictures.
    """
    meta = read_meta(folder) or {}
    if meta.get("type") != KIND or meta.get("transform_type") != TYPE:
        raise InvalidTransformationDirectoryError(
            f"{folder} is not a transformation of tables. Connect Clean Missing Data or Normalize Data; for pictures use Apply Image "
            "Transformation."
        )
    try:
        with open(os.path.join(folder, STEPS), encoding="utf-8") as f:
            steps = json.load(f)
        if not isinstance(steps, list) or not all(isinstance(s, dict) and s.get("do") in DOES for s in steps):
            raise ValueError("a step is none of ours")
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidTransformationDirectoryError(f"{folder} is damaged: {error}. Make it again.") from error
    return steps


def apply(frame: Frame, steps: list[dict[str, Any]]) -> Frame:
    """
    Raises:
        ColumnNotFoundError, InvalidColumnTypeError: the table has not the columns that the steps were learned from.
    """
    data = frame.data.copy()
    for step in steps:
        named = step.get("columns") or ([step["column"]] if "column" in step else [])
        for name in named:
            if name not in data.columns:
                raise by_id("ColumnNotFound")(
                    f"There is no column '{name:.200}', which the transformation was learned from. The table has: "
                    f"{', '.join(map(str, data.columns[:20]))}."
                )
        if step["do"] == "mark":
            data[step["as"]] = data[step["column"]].isna()
        elif step["do"] == "drop_rows":
            data = data.dropna(subset=named) if named else data
        elif step["do"] == "drop_columns":
            data = data.drop(columns=named)
        elif step["do"] == "fill":
            data[step["column"]] = _fill(data[step["column"]], step["value"])
        else:
            data[step["column"]] = _scale(data[step["column"]], step)
    return frame.with_data(data)


def _fill(values: Any, value: Any) -> Any:
    if not values.isna().any():
        return values
    kind = kind_of(values)
    if kind == "number":
        if isinstance(value, (str, bool)):
            raise _unfit(values, kind)
        return values.astype("float64").fillna(float(value))
    if kind == "time":
        import pandas

        moment = pandas.Timestamp(value)
        zone = getattr(values.dtype, "tz", None)
        if zone is not None and moment.tzinfo is None:
            moment = moment.tz_localize(zone)
        return values.fillna(moment)
    if kind == "switch":
        return values.astype(object).where(values.notna(), value).astype(bool)
    if not isinstance(value, str) and not values.isna().all():
        raise _unfit(values, "number")
    return values.astype(object).where(values.notna(), value)


def _scale(values: Any, step: dict[str, Any]) -> Any:
    import numpy

    if kind_of(values) != "number":
        raise _unfit(values, "number")
    x = values.astype("float64")
    if step["constant"] is not False:
        return x.where(x.isna(), math.nan if step["constant"] is None else step["constant"])
    method, a, b = step["method"], step["a"], step["b"]
    if method == "Logistic":
        return 1 / (1 + numpy.exp(-x.clip(-700, 700)))
    if method == "Tanh":
        return numpy.tanh(x)
    if method == "LogNormal":
        logs = numpy.log(x.where(x > 0))
        return ((logs - a) / b).map(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)), na_action="ignore")
    return (x - a) / b


def _unfit(values: Any, wanted: str) -> Exception:
    return by_id("InvalidColumnType")(
        f"Column '{values.name!s:.200}' is a {kind_of(values)} here; the transformation was learned from a {wanted}."
    )
