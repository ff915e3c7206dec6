"""DataFrameDirectory: a table as parquet, with what each column means and a summary to look at."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from rookery_vision.errors import InvalidDatasetError
from rookery_vision.formats.meta import read_meta, write_meta

__all__ = ["Column", "Table", "read_table", "write_table"]

KIND, DATA, SCHEMA, LOOK = "DataFrameDirectory", "data.parquet", "_schema.json", "_visualization.json"
NUM_ROWS_SHOWN = 100


@dataclass(frozen=True)
class Column:
    """One column. `role`: feature, label, scored_labels or scored_probabilities."""

    name: str
    values: Sequence[Any]
    role: str = "feature"
    category: Optional[str] = None  # of scored_probabilities: whose


@dataclass(frozen=True)
class Table:
    columns: dict[str, Column]
    task: Optional[str] = None  # what the score columns are of: MultiClassification, …

    def with_role(self, role: str) -> list[Column]:
        return [c for c in self.columns.values() if c.role == role]


def write_table(folder: str, columns: Sequence[Column], task: Optional[str] = None) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({c.name: list(c.values) for c in columns})
    parquet.write_table(table, os.path.join(folder, DATA))
    kinds = {f.name: str(f.type) for f in table.schema}
    described = [{"name": c.name, "type": kinds[c.name], "role": c.role, "category": c.category} for c in columns]
    label = next((c.name for c in columns if c.role == "label"), None)
    _write_json(folder, SCHEMA, {"columns": described, "label": label, "score_task": task})
    shown = [{c.name: _plain(c.values[i]) for c in columns} for i in range(min(NUM_ROWS_SHOWN, table.num_rows))]
    _write_json(folder, LOOK, {"num_rows": table.num_rows, "columns": [_summary(c) for c in columns], "rows": shown})
    write_meta(folder, KIND, format="Parquet", data=DATA, schema=SCHEMA, visualization=LOOK)


def read_table(folder: str) -> Table:
    """
    Raises:
        InvalidDatasetError: it is not a table.
    """
    if (read_meta(folder) or {}).get("type") != KIND:
        raise InvalidDatasetError(
            f"{folder} is not a table (DataFrameDirectory). Connect the output of Score Image Model."
        )
    from pyarrow import parquet

    try:
        data = parquet.ParquetFile(os.path.join(folder, DATA)).read()
        with open(os.path.join(folder, SCHEMA), encoding="utf-8") as f:
            schema = json.load(f)
        roles = {c["name"]: c for c in schema["columns"]}
    except Exception as error:  # pyarrow's own kinds, without a common root
        raise InvalidDatasetError(f"{folder} is damaged: {error}. Make it again.") from error
    columns = {}
    for name in data.column_names:
        said = roles.get(name, {})
        columns[name] = Column(name, data.column(name).to_pylist(), said.get("role", "feature"), said.get("category"))
    return Table(columns, schema.get("score_task"))


def _write_json(folder: str, name: str, data: Any) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(data, f, ensure_ascii=False)


def _summary(column: Column) -> dict[str, Any]:
    known = [v for v in column.values if v is not None and v == v]
    is_number = bool(known) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in known)
    summary = {
        "name": column.name,
        "count": len(column.values),
        "missing": len(column.values) - len(known),
        "unique": len(set(known)),
    }
    if is_number:
        summary.update(
            smallest=_plain(min(known)), largest=_plain(max(known)), mean=_plain(math.fsum(known) / len(known))
        )
    return summary


def _plain(value: Any) -> Any:
    """As JSON has it: no NaN, no infinities."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
