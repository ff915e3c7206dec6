"""The first rows of a parquet file: its schema, and of each plain column as many values as are shown. Nothing else is read.

No library: pyarrow takes a hundred megabytes in the keeper. Columns in an encoding or a compression that is not read here (zstd,
brotli, deltas, nested ones) are shown without values, and say so.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Optional

from rookery.server.preview.parquet_pages import PageError, read_column
from rookery.server.preview.thrift import ThriftError, read_struct

__all__ = ["ParquetError", "parquet_head"]

MAX_FOOTER = 16 * 1024 * 1024
MAX_COLUMNS = 500
MAX_CELL = 2000
_TYPES = ("boolean", "int32", "int64", "int96", "float", "double", "bytes", "fixed bytes")
_CONVERTED = {
    0: "text",
    4: "enum",
    5: "decimal",
    6: "date",
    7: "time",
    8: "time",
    9: "timestamp",
    10: "timestamp",
    19: "json",
}


# What damaged bytes come to in code that takes them as they should be.
DAMAGE = (struct.error, LookupError, TypeError, ValueError, AttributeError, OverflowError)


class ParquetError(ValueError):
    """Not a parquet file, or a damaged one."""


def parquet_head(file: BinaryIO, size: int, rows: int) -> dict[str, Any]:
    """{"columns": [{"name", "type", "why"?}], "rows": [[…]], "total_rows", "cut"}."""
    footer = _footer(file, size)
    try:
        leaves, total = _leaves(footer.get(2) or []), max(0, int(footer.get(3) or 0))
    except DAMAGE:
        raise ParquetError("its footer is damaged") from None
    columns: list[dict[str, Any]] = []
    values: list[list[Any]] = []
    wanted = min(rows, total)
    for number, leaf in enumerate(leaves[:MAX_COLUMNS]):
        column = {"name": leaf.name, "type": leaf.type}
        try:
            found = _column(file, size, footer, leaf, number, wanted)
        except (PageError, ThriftError) as error:
            column["why"] = str(error)
            found = [None] * wanted
        except DAMAGE:
            column["why"] = "it is damaged"
            found = [None] * wanted
        columns.append(column)
        values.append([_cell(value) for value in found] + [None] * (wanted - len(found)))
    return {
        "columns": columns,
        "rows": [list(row) for row in zip(*values)] if values else [],
        "total_rows": total,
        "cut": total > wanted or len(leaves) > MAX_COLUMNS,
    }


class _Leaf:
    def __init__(self, name: str, element: dict[int, Any], optional: bool, nested: bool) -> None:
        self.name, self.optional, self.nested = name, optional, nested
        self.physical = int(element.get(1) or 0)
        self.length = int(element.get(2) or 0)
        self.converted: Optional[int] = element.get(6)
        self.logical: dict[int, Any] = element.get(10) or {}
        stored = _TYPES[self.physical] if self.physical < len(_TYPES) else f"type {self.physical}"
        self.type = (
            "timestamp"
            if 8 in self.logical
            else _CONVERTED.get(self.converted if self.converted is not None else -1, stored)
        )


def _footer(file: BinaryIO, size: int) -> dict[int, Any]:
    if size < 12:
        raise ParquetError("it is too short")
    file.seek(size - 8)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or not 0 < length <= min(MAX_FOOTER, size - 12):
        raise ParquetError("it has no footer")
    file.seek(size - 8 - length)
    try:
        return read_struct(file.read(length))[0]
    except (ThriftError, RecursionError) as error:
        raise ParquetError(str(error)) from None


def _leaves(schema: list[dict[int, Any]]) -> list[_Leaf]:
    """The columns that hold values, in order; a nested one has the path as its name."""
    found: list[_Leaf] = []
    open_groups: list[list[Any]] = []  # [name, children left, whether it nests]
    for element in schema[1:]:
        name = bytes(element.get(4) or b"").decode("utf-8", "replace")
        path = ".".join([group[0] for group in open_groups] + [name])
        repetition = int(element.get(3) or 0)
        children = int(element.get(5) or 0)
        if children:
            open_groups.append([name, children])
            continue
        found.append(_Leaf(path[:200], element, repetition == 1, bool(open_groups) or repetition == 2))
        while open_groups:
            open_groups[-1][1] -= 1
            if open_groups[-1][1] > 0:
                break
            open_groups.pop()
    return found


def _column(file: BinaryIO, size: int, footer: dict[int, Any], leaf: _Leaf, number: int, wanted: int) -> list[Any]:
    if leaf.nested:
        raise PageError("nested values are not shown here")
    found: list[Any] = []
    for group in footer.get(4) or []:
        if len(found) >= wanted:
            break
        chunk = (group.get(1) or [])[number].get(3) or {}
        start = min(place for place in (chunk.get(9), chunk.get(11)) if place)
        length = int(chunk.get(7) or 0)
        if not 0 < start < size or not 0 < length <= size - start:
            raise PageError("its pages lie outside of the file")
        found += read_column(
            file, start, length, codec=int(chunk.get(4) or 0), physical=leaf.physical, width=leaf.length,
            optional=leaf.optional, wanted=wanted - len(found),
        )  # fmt: skip
    return [_shown(value, leaf) for value in found[:wanted]]


def _shown(value: Any, leaf: _Leaf) -> Any:
    from datetime import datetime, timedelta, timezone

    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, bytes):
        if leaf.converted in (0, 4, 19) or 1 in leaf.logical:
            return value.decode("utf-8", "replace")
        return value.hex()
    try:
        first = datetime(1970, 1, 1, tzinfo=timezone.utc)
        if leaf.converted == 6 or 6 in leaf.logical:
            return (first + timedelta(days=value)).date().isoformat()
        if leaf.type == "timestamp":
            unit = (leaf.logical.get(8) or {}).get(2) or {}
            divisor = 1 if leaf.converted == 10 or 2 in unit else (1000 if 3 in unit else 0.001)
            return (first + timedelta(microseconds=value / divisor)).isoformat()
    except OverflowError:
        pass
    return value


def _cell(value: Any) -> Any:
    return value[:MAX_CELL] if isinstance(value, str) else value
