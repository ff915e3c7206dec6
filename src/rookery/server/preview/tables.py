"""The first rows of tables that are texts: separated values, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

__all__ = ["json_lines", "separated"]

MAX_COLUMNS = 500
MAX_CELL = 2000


def separated(text: str, cut: bool, rows: int) -> dict[str, Any]:
    """CSV, or whatever separates: comma, tab, semicolon or bar, whichever the first line has most of."""
    first = text.split("\n", 1)[0]
    separator = max(",\t;|", key=first.count)
    found: list[list[str]] = []
    more = False
    try:
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            if len(found) > rows:
                more = True
                break
            if row:
                found.append([cell[:MAX_CELL] for cell in row[:MAX_COLUMNS]])
    except csv.Error:
        more = True
    if not found:
        return {"kind": "table", "columns": [], "rows": [], "total_rows": 0, "cut": cut}
    if cut and not more and len(found) > 1:
        found.pop()  # the last line of a head may be half a line
    names, body = found[0], found[1:]
    width = max(len(row) for row in found)
    names += [f"column {i + 1}" for i in range(len(names), width)]
    columns = [{"name": name, "type": _type([row[i] for row in body if i < len(row)])} for i, name in enumerate(names)]
    padded = [row + [""] * (width - len(row)) for row in body]
    return {
        "kind": "table",
        "columns": columns,
        "rows": padded,
        "total_rows": None if cut or more else len(body),
        "cut": cut or more,
    }


def json_lines(text: str, cut: bool, rows: int) -> dict[str, Any]:
    """One object a line; columns in the order they first appear."""
    names: dict[str, None] = {}
    found: list[dict[str, Any]] = []
    lines = [line for line in text.split("\n") if line.strip()]
    if cut and lines:
        lines.pop()
    for line in lines[:rows]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = {"line": line[:MAX_CELL]}
        item = value if isinstance(value, dict) else {"value": value}
        found.append(item)
        names.update(dict.fromkeys(list(item)[:MAX_COLUMNS]))
    columns = list(names)[:MAX_COLUMNS]
    return {
        "kind": "table",
        "columns": [{"name": name, "type": "json"} for name in columns],
        "rows": [[_cell(item.get(name)) for name in columns] for item in found],
        "total_rows": None if cut or len(lines) > rows else len(found),
        "cut": cut or len(lines) > rows,
    }


def _cell(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        return json.dumps(value)[:MAX_CELL]
    return value[:MAX_CELL] if isinstance(value, str) else value


def _type(cells: list[str]) -> str:
    filled = [cell for cell in cells if cell.strip()]
    if filled and all(_is_number(cell) for cell in filled):
        return "number"
    return "text"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
