"""`TabularDataset.partition_by`: rows written to a folder for each combination of values of some columns. Needs pandas."""

from __future__ import annotations

import os
import tempfile
import uuid
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.tables import load_pandas, read_frame, write_parquet

__all__ = ["write_partitions"]

FILE = "part-00000.parquet"


def write_partitions(dataset: Any, keys: Any, target: Any, name: Optional[str], as_files: bool) -> Any:
    """The data set of what was written, below a folder of its own at `target`; registered where it has a name."""
    from rookery.sdk.dataset_factory import FileDatasetFactory, TabularDatasetFactory, _target

    pandas = load_pandas()
    wanted = [keys] if isinstance(keys, str) else [str(key) for key in keys or ()]
    frame = read_frame(dataset)
    missing = [key for key in wanted if key not in frame.columns]
    if missing or not wanted:
        known = ", ".join(map(str, frame.columns))
        raise UserError(f"partition_keys={keys!r:.80}. Give names of columns. Known: {known}.")
    odd = [key for key in wanted if not key.isidentifier() or not key.isascii()]
    if odd:
        raise UserError(
            f"partition_keys has '{odd[0]}'. A key has letters, digits and '_', no digit first: rename the column."
        )
    store, folder = _target(target)
    place = "/".join(part for part in (folder.strip("/"), str(uuid.uuid4())) if part)
    with tempfile.TemporaryDirectory(prefix="rookery-parts-") as scratch:
        for values, rows in frame.groupby(wanted, sort=True, dropna=False):
            one = values if isinstance(values, tuple) else (values,)
            inside = os.path.join(scratch, *(_word(pandas, key, value) for key, value in zip(wanted, one)))
            os.makedirs(inside)
            write_parquet(rows.reset_index(drop=True), os.path.join(inside, FILE))
        store.upload(scratch, place, overwrite=True, show_progress=False)
    pattern = "".join(f"/{{{key}}}" for key in wanted) + "/*.parquet"
    if as_files:
        made: Any = FileDatasetFactory.from_files((store, place), partition_format=pattern)
    else:
        made = TabularDatasetFactory.from_parquet_files((store, place), partition_format=pattern)
        # In a path everything is text: what the columns were is said beside it.
        kinds = {key: {"kind": _kind(pandas, frame[key])} for key in wanted}
        form = {**made._definition["format"], "types": {k: v for k, v in kinds.items() if v["kind"]}}
        made = made._with(format=form)
    return made.register(dataset._workspace(), name, create_new_version=True) if name else made


def _word(pandas: Any, key: str, value: Any) -> str:
    """A value as the name of a folder."""
    if pandas.isna(value):
        raise UserError(f"Column '{key}' has rows without a value, which have no place. Fill them, or take them out.")
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    if not text or text in (".", "..") or any(c in "/\\" or ord(c) < 32 for c in text) or len(text) > 200:
        raise UserError(f"Column '{key}' has the value {text!r:.80}, which cannot be the name of a folder.")
    return text


def _kind(pandas: Any, column: Any) -> str:
    """How it is read again; empty: as text."""
    types = pandas.api.types
    tests = (
        ("bool", types.is_bool_dtype),
        ("long", types.is_integer_dtype),
        ("float", types.is_float_dtype),
        ("datetime", types.is_datetime64_any_dtype),
    )
    return next((kind for kind, is_kind in tests if is_kind(column)), "")
