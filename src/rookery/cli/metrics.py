"""The metrics of a run as a table: last value, least, most, and the course of it."""

from __future__ import annotations

import math
from typing import Any

from rookery.cli.fields import heading
from rookery.cli.table import Column, print_table
from rookery.cli.words import number, sparkline

__all__ = ["print_metrics"]

COLUMNS = (
    Column("NAME"),
    Column("LAST", right=True),
    Column("MIN", rank=3, right=True),
    Column("MAX", rank=2, right=True),
    Column("COUNT", rank=4, right=True),
    Column("COURSE", rank=1),
)


def print_metrics(metrics: list[dict[str, Any]]) -> None:
    """Nothing when there are none. A row or a table gets a line for each of its columns."""
    rows = [row for metric in metrics for row in _rows(metric)]
    if rows:
        heading("Metrics")
        print_table(COLUMNS, rows, indent=2)


def _rows(metric: dict[str, Any]) -> list[list[str]]:
    if "values" in metric:
        return [_summary(metric["name"], metric["values"])]
    if "columns" in metric:
        return [_summary(f"{metric['name']}.{column}", values) for column, values in metric["columns"].items()]
    items = metric.get("items") or []
    last = items[-1].get("artifact", metric["kind"]) if items and isinstance(items[-1], dict) else metric["kind"]
    return [[metric["name"], last, "", "", str(len(items)), ""]]


def _summary(name: str, values: list[Any]) -> list[str]:
    present = [v for v in values if v is not None]
    numbers = [v for v in present if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)]
    low, high = (number(min(numbers)), number(max(numbers))) if len(numbers) > 1 else ("", "")
    last = number(present[-1]) if present else "None"
    return [
        name,
        last if len(last) <= 40 else last[:39] + "…",
        low,
        high,
        str(len(values)),
        sparkline(present),
    ]
