"""DataFrameDirectory ↔ pandas: a table, what its columns mean, and a summary to look at."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery_vision.errors import InvalidDatasetError, by_id
from rookery_vision.formats.meta import read_meta, write_meta
from rookery_vision.formats.table import DATA, KIND, LOOK, NUM_ROWS_SHOWN, SCHEMA

__all__ = ["Frame", "as_json", "kind_of", "read_frame", "write_frame"]

CELL_LIMIT = 1000  # characters of a text that the summary shows


@dataclass(frozen=True)
class Frame:
    """A table. `roles`: what some columns are: label, scored_labels, scored_probabilities (`categories`: whose); `task`: what the
    scores are of."""

    data: Any  # pandas.DataFrame
    roles: dict[str, str] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    task: Optional[str] = None

    def with_data(self, data: Any) -> Frame:
        """Other rows or columns; what is known of those that are left stays."""
        return dataclasses.replace(
            self,
            data=data,
            roles={n: r for n, r in self.roles.items() if n in data.columns},
            categories={n: c for n, c in self.categories.items() if n in data.columns},
        )


def read_frame(folder: str) -> Frame:
    """What a port of that type takes: a DataFrameDirectory, or a data set of files that hold a table.

    Raises:
        InvalidDatasetError: it is neither.
    """
    if not os.path.isdir(folder) or (read_meta(folder) or {}).get("type") != KIND:
        from rookery_tabular.reading import read_files

        return Frame(read_files(folder))
    import pandas

    try:
        data = pandas.read_parquet(os.path.join(folder, DATA))
        with open(os.path.join(folder, SCHEMA), encoding="utf-8") as f:
            schema = json.load(f)
        said = {c["name"]: c for c in schema["columns"]}
    except Exception as error:  # pyarrow's own kinds, without a common root
        raise InvalidDatasetError(f"{folder} is damaged: {error}. Make it again.") from error
    roles = {n: c["role"] for n, c in said.items() if c.get("role", "feature") != "feature" and n in data.columns}
    categories = {n: c["category"] for n, c in said.items() if c.get("category") is not None and n in data.columns}
    return Frame(data, roles, categories, schema.get("score_task"))


def write_frame(folder: str, frame: Frame) -> None:
    """`_meta.yaml` comes last: a folder without it is not whole.

    Raises:
        ModuleError: its columns cannot be those of a table.
    """
    import pyarrow
    from pyarrow import parquet

    data = _checked(frame.data)
    columns = {}
    for name in data.columns:
        try:
            columns[name] = pyarrow.Array.from_pandas(data[name])
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, OverflowError) as error:
            raise by_id("MixedColumn")(
                f"Column '{name:.200}' has values of several kinds, or of one that no table holds: {str(error)[:200]}. Make them all "
                "numbers, texts or times first, for instance with Execute Python Script."
            ) from None
    table = pyarrow.table(columns)
    parquet.write_table(table, os.path.join(folder, DATA))
    described = [
        {
            "name": f.name,
            "type": str(f.type),
            "role": frame.roles.get(f.name, "feature"),
            "category": frame.categories.get(f.name),
        }
        for f in table.schema
    ]
    label = next((n for n, role in frame.roles.items() if role == "label"), None)
    _write_json(folder, SCHEMA, {"columns": described, "label": label, "score_task": frame.task})
    shown = [dict(zip(data.columns, map(as_json, row))) for row in data.head(NUM_ROWS_SHOWN).itertuples(index=False)]
    summary = {"num_rows": len(data), "columns": [_summary(data[n]) for n in data.columns], "rows": shown}
    _write_json(folder, LOOK, summary)
    write_meta(folder, KIND, format="Parquet", data=DATA, schema=SCHEMA, visualization=LOOK)
    print(f"{len(data)} rows, {len(data.columns)} columns", flush=True)


def kind_of(values: Any) -> str:
    """`number`, `switch`, `time` or `text`: what a column is for learning and for choosing."""
    from pandas.api import types

    if types.is_bool_dtype(values.dtype):
        return "switch"
    if types.is_numeric_dtype(values.dtype) and not types.is_complex_dtype(values.dtype):
        return "number"
    if types.is_datetime64_any_dtype(values.dtype):
        return "time"
    known = values.dropna()
    if len(known) and values.dtype == object and all(type(v) is bool for v in known):
        return "switch"  # with gaps pandas has no type for it
    return "text"


def _checked(data: Any) -> Any:
    import pandas

    if not isinstance(data, pandas.DataFrame):
        raise InvalidDatasetError(f"Not a table but {type(data).__name__}. Give a pandas.DataFrame.")
    odd = [n for n in data.columns if not isinstance(n, str)]
    if odd:
        raise by_id("ColumnNamesNotString")(
            f"A column is called {odd[0]!r:.100}, which is no text. Rename columns: data.columns = data.columns.astype(str)."
        )
    twice = data.columns[data.columns.duplicated()]
    if len(twice):
        raise by_id("DuplicatedColumnName")(f"Two columns are called '{twice[0]:.200}'. Rename one.")
    return data.reset_index(drop=True)


def _summary(values: Any) -> dict[str, Any]:
    known = values.dropna()
    try:
        unique = int(known.nunique())
    except TypeError:  # lists and dicts
        unique = len(known)
    summary = {"name": values.name, "count": len(values), "missing": len(values) - len(known), "unique": unique}
    if kind_of(values) == "number" and len(known):
        import numpy

        with numpy.errstate(all="ignore"):  # infinities have no mean
            mean = as_json(float(known.mean()))
        summary.update(smallest=as_json(known.min()), largest=as_json(known.max()), mean=mean)
    return summary


def as_json(value: Any) -> Any:
    """As JSON has it: no NaN, no infinities, no types of numpy's."""
    if value is None or isinstance(value, (bool, int, str)):
        return value[:CELL_LIMIT] if isinstance(value, str) else value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (bool, int)):
        return value
    text = str(value)
    return None if text in ("NaT", "<NA>", "nan") else text[:CELL_LIMIT]


def _write_json(folder: str, name: str, data: Any) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(data, f, ensure_ascii=False, allow_nan=False)
