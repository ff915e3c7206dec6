"""Rows of tabular data sets with pandas, which is loaded here and nowhere else."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import DataError, UnsupportedError
from rookery.sdk.column_filter import mask_of
from rookery.sdk.data_delivery import fetch_tree, local_path, resolve
from rookery.sdk.partitions import partition_values

if TYPE_CHECKING:
    from rookery.sdk.tabular_dataset import TabularDataset

__all__ = ["read_frame", "write_parquet", "write_rows"]

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\Z")
_ENCODINGS = {"utf8": "utf-8", "iso88591": "iso-8859-1", "utf8bom": "utf-8-sig", "windows1252": "cp1252"}


def read_frame(dataset: TabularDataset, strict: bool = False) -> Any:
    """All rows; with `strict` a value that is not of its column's type is an error, else it is null."""
    pandas = load_pandas()
    definition = dataset._definition
    steps = definition.get("steps") or []
    wanted = _rows_needed(steps)
    with _local_files(dataset) as files:
        frames, rows = [], 0
        for number, (path, file) in enumerate(files):
            frame = _read(pandas, file, path, definition["format"], number, None if wanted is None else wanted - rows)
            _add_columns(frame, path, definition)
            frames.append(frame)
            rows += len(frame)
            if wanted is not None and rows >= wanted:
                break
        frame = frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)
    _set_types(pandas, frame, definition["format"], strict)
    for step in steps:
        frame = _apply(pandas, frame, step)
    return frame.reset_index(drop=True)


def write_parquet(frame: Any, path: str, row_group_size: Optional[int] = None) -> None:
    load_pandas()
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise _missing("pyarrow") from None
    try:
        parquet.write_table(arrow.Table.from_pandas(frame), path, row_group_size=row_group_size)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise DataError(f"The frame cannot be written as Parquet: {error}") from error


def write_rows(dataset: TabularDataset, form: str, separator: str = ",") -> Any:
    """The rows as one file on the default datastore, as a FileDataset."""
    from rookery.sdk.dataset_factory import FileDatasetFactory
    from rookery.sdk.datastore import Datastore

    frame = read_frame(dataset)
    store = Datastore.get_default(dataset._workspace())
    with tempfile.TemporaryDirectory(prefix="rookery-rows-") as folder:
        file = os.path.join(folder, "part-00000." + form)
        if form == "csv":
            frame.to_csv(file, sep=separator, index=False)
        else:
            write_parquet(frame, file)
        target = f"managed-dataset/{uuid.uuid4()}"
        store.upload_files([file], folder, target, True, False)
    return FileDatasetFactory.from_files((store, target))


def load_pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise _missing("pandas") from None
    return pandas


def _missing(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"Rows of data sets need {name}, which is not installed in this Python. Install it with `pip install "
        "'rookery[data]'`; in a run, put it into the environment."
    )


@contextlib.contextmanager
def _local_files(dataset: TabularDataset) -> Iterator[list[tuple[str, str]]]:
    """(path in the data set, file on this machine), fetched where they do not lie here."""
    client = dataset._workspace().client
    manifest = resolve(client, dataset._save())
    entries = [entry for entry in manifest.entries if not entry.is_folder]
    found = [(entry.path, local_path(manifest, entry)) for entry in entries]
    if all(file is not None for _, file in found):
        yield [(path, str(file)) for path, file in found]
        return
    with tempfile.TemporaryDirectory(prefix="rookery-table-") as folder:
        fetch_tree(client, manifest, folder)
        yield [(entry.path, os.path.join(folder, entry.path)) for entry in entries]


def _read(pandas: Any, file: str, path: str, form: dict[str, Any], number: int, rows: Optional[int]) -> Any:
    try:
        if form["type"] == "parquet":
            try:
                return pandas.read_parquet(file)
            except ImportError:
                raise _missing("pyarrow") from None
        encoding = _ENCODINGS.get(str(form.get("encoding") or "utf8").lower(), form.get("encoding"))
        if form["type"] == "json_lines":
            return _read_json_lines(pandas, file, path, form, encoding)
        header = form.get("header", "all")
        has_header = header in ("all", "combine") or (header == "first" and number == 0)
        frame = pandas.read_csv(
            file,
            sep=form.get("separator") or ",",
            header=0 if has_header else None,
            encoding=encoding,
            nrows=rows,
            dtype=None if form.get("infer", True) else str,
            keep_default_na=not form.get("empty_as_string"),
            skipinitialspace=False,
            engine="python" if len(form.get("separator") or ",") > 1 else "c",
        )
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame()
    except (ValueError, UnicodeDecodeError, pandas.errors.ParserError) as error:
        raise DataError(f"'{path}' cannot be read as a table: {str(error)[:300]}") from error
    if not has_header:
        frame.columns = [f"Column{i + 1}" for i in range(len(frame.columns))]
    return frame


def _read_json_lines(pandas: Any, file: str, path: str, form: dict[str, Any], encoding: Any) -> Any:
    import json

    rows = []
    with open(file, encoding=encoding) as f:
        for n, line in enumerate(f, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                if form.get("invalid_lines") == "drop":
                    continue
                raise DataError(
                    f"Line {n} of '{path}' is no JSON: {error}. invalid_lines='drop' leaves it out."
                ) from None
            if isinstance(row, dict):
                rows.append(row)
    return pandas.DataFrame(rows)


def _add_columns(frame: Any, path: str, definition: dict[str, Any]) -> None:
    pattern = definition.get("partition_format")
    if pattern:
        values = partition_values(pattern, "/" + path)
        if values is None:
            raise DataError(f"'{path}' does not look like partition_format {pattern!r}.")
        for name, value in values.items():
            frame[name] = value
    if definition["format"].get("include_path"):
        frame.insert(0, "Path", "/" + path)


def _set_types(pandas: Any, frame: Any, form: dict[str, Any], strict: bool) -> None:
    types = form.get("types") or {}
    errors = "raise" if strict else "coerce"
    for name, given in types.items():
        if name not in frame.columns:
            raise DataError(
                f"set_column_types: there is no column '{name}'. Known: {', '.join(map(str, frame.columns))}."
            )
        try:
            frame[name] = _convert(pandas, frame[name], given, errors)
        except (ValueError, TypeError) as error:
            raise DataError(f"Column '{name}' does not hold {given['kind']} only: {error}.") from error
    if form.get("infer", True) and form["type"] == "delimited":
        for name in frame.columns:
            # Texts are objects, and since pandas 3 of a type of their own.
            is_text = pandas.api.types.is_string_dtype(frame[name]) or pandas.api.types.is_object_dtype(frame[name])
            if name not in types and is_text and _looks_like_time(frame[name]):
                with contextlib.suppress(ValueError, TypeError):
                    frame[name] = pandas.to_datetime(frame[name], format="ISO8601")


def _looks_like_time(column: Any) -> bool:
    some = column.dropna().head(100)
    return len(some) > 0 and all(isinstance(value, str) and _ISO.match(value) for value in some)


def _convert(pandas: Any, column: Any, given: dict[str, Any], errors: str) -> Any:
    kind = given["kind"]
    if kind == "string":
        return column.where(column.isna(), column.astype(str))
    if kind == "datetime":
        formats = given.get("formats")
        if not formats:
            return pandas.to_datetime(column, errors=errors)
        result = pandas.to_datetime(column, format=formats[0], errors="coerce" if len(formats) > 1 else errors)
        for form in formats[1:]:
            result = result.fillna(pandas.to_datetime(column, format=form, errors="coerce"))
        return result
    if kind == "bool":
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        return column.map(lambda v: v if isinstance(v, bool) else words.get(str(v).lower()))
    if kind == "float" and given.get("decimal_mark") == ",":
        column = column.astype(str).str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    numbers = pandas.to_numeric(column, errors=errors)
    return numbers.astype("Int64") if kind == "long" and numbers.isna().any() else numbers.astype("int64" if kind == "long" else "float64")  # fmt: skip


def _apply(pandas: Any, frame: Any, step: dict[str, Any]) -> Any:
    op = step["op"]
    if op == "take":
        return frame.head(step["count"])
    if op == "skip":
        return frame.iloc[step["count"] :]
    if op == "sample":
        return frame[[_share(i, step["seed"]) < step["probability"] for i in range(len(frame))]]
    if op == "split":
        # By rank in a shuffled order: the parts have exactly their shares, and never overlap.
        order = sorted(range(len(frame)), key=lambda i: _share(i, step["seed"]))
        first, last = (round(step[edge] * len(frame)) for edge in ("low", "high"))
        return frame.iloc[sorted(order[first:last])]
    if op == "keep_columns":
        return frame[_known_columns(frame, step["columns"])]
    if op == "drop_columns":
        return frame.drop(columns=_known_columns(frame, step["columns"]))
    if op == "filter_rows":
        return frame[mask_of(frame, step["where"])]
    if op == "time":
        return _between(pandas, frame, step)
    raise DataError(f"This version does not know the step {op!r} of a data set.")


def _between(pandas: Any, frame: Any, step: dict[str, Any]) -> Any:
    (column,) = _known_columns(frame, [step["column"]])
    times = pandas.to_datetime(frame[column], errors="coerce", utc=True)
    keep = times.notna()
    for name, compare in (("after", "ge" if step["include"] else "gt"), ("before", "le" if step["include"] else "lt")):
        if step.get(name):
            moment = pandas.Timestamp(step[name])
            moment = moment.tz_localize("UTC") if moment.tzinfo is None else moment.tz_convert("UTC")
            keep &= getattr(times, compare)(moment)
    return frame[keep]


def _known_columns(frame: Any, names: list[str]) -> list[str]:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(f"There is no column {', '.join(missing)}. Known: {', '.join(map(str, frame.columns))}.")
    return names


def _rows_needed(steps: list[dict[str, Any]]) -> Optional[int]:
    """How many rows of the files are enough: a `take` that comes first needs no more."""
    skipped = 0
    for step in steps:
        if step["op"] == "take":
            return skipped + int(step["count"])
        if step["op"] == "skip":
            skipped += int(step["count"])
        elif step["op"] not in ("keep_columns", "drop_columns"):
            return None
    return None


def _share(row: int, seed: int) -> float:
    digest = hashlib.blake2b(f"{seed}:{row}".encode("ascii"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
