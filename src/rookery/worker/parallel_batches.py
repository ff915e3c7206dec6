"""The mini batches of a ParallelRunStep: files, pieces of tables, or everything that has the same partition keys. Python 3.6.

A batch is `{"input", "count", "key": {name: value}}` and one of `"files"`, `"table"` with `"rows"` (a piece of a file) or `"frame"` with
`"rows"` (positions in a data set's table, which is read once, before processes are started).
"""

import csv
import datetime
import importlib
import io
import json
import os
import re
import sys

__all__ = ["cut", "mini_batch"]

DEFAULT_FILES, DEFAULT_BYTES = 10, 1024 * 1024
TABLES = (".csv", ".tsv", ".parquet")
_frames = {}  # type: dict  # name of an input → its table; children that are forked see it


def cut(options):
    """All batches in their order.

    Raises:
        ValueError: an input cannot be cut as it is asked for; the words say why.
    """
    keys = json.loads(options.keys) if options.keys else []
    patterns = dict(_pair(given) for given in options.pattern)
    found = []  # type: list
    for given in options.input:
        name, path = _pair(given)
        files = _files(path)
        if keys:
            found.extend(_by_key(name, path, files, keys, json.loads(patterns[name])))
        elif files and all(f.lower().endswith(TABLES) for f in files) and _is_size(options.mini_batch):
            found.extend(_pieces(name, files, _bytes(options.mini_batch)))
        else:
            size = max(1, int(options.mini_batch)) if str(options.mini_batch).isdigit() else DEFAULT_FILES
            for i in range(0, len(files), size):
                found.append(_files_batch(name, files[i : i + size], {}))
    for name in options.table:
        _frames[name] = _load(name)
        found.extend(_rows_by_key(name, keys) if keys else _rows(name, _bytes(options.mini_batch)))
    return found


def mini_batch(batch):
    """What `run` is given: a list of paths, or a DataFrame."""
    if "files" in batch:
        return batch["files"]
    if "frame" in batch:
        rows = batch["rows"]
        chosen = slice(*rows) if isinstance(rows, tuple) else rows
        return _frames[batch["frame"]].iloc[chosen].reset_index(drop=True)
    import pandas

    if batch["rows"] is None:
        return pandas.read_parquet(batch["table"])
    start, count = batch["rows"]
    separator = "\t" if batch["table"].lower().endswith(".tsv") else ","
    return pandas.read_csv(batch["table"], sep=separator, skiprows=range(1, start + 1), nrows=count)


def _pair(given):
    name, _, value = given.partition("=")
    return name, value


def _files(path):
    if os.path.isfile(path):
        return [path]
    found = []  # type: list
    for folder, folders, files in os.walk(path, followlinks=True):
        folders.sort()
        found.extend(os.path.join(folder, name) for name in sorted(files) if not name.startswith("."))
    return found


def _files_batch(name, files, key):
    return {"input": name, "files": files, "count": len(files), "key": key}


def _by_key(name, path, files, keys, about):
    """Files whose paths have the same values of the keys, in the order of the first of each."""
    expression, formats = re.compile(about["expression"]), about["formats"]
    top = os.path.dirname(path) if os.path.isfile(path) else path
    groups = {}  # type: dict
    order = []  # type: list
    for file in files:
        inside = "/" + os.path.relpath(file, top).replace(os.sep, "/")
        match = expression.search(inside)
        if match is None:
            raise ValueError(
                "'%s' of input '%s' does not look like its partition_format %r." % (inside, name, about["format"])
            )
        values = tuple(_value(match.group(key), formats.get(key)) for key in keys)
        if values not in groups:
            order.append(values)
        groups.setdefault(values, []).append(file)
    return [_files_batch(name, groups[values], dict(zip(keys, values))) for values in order]


def _value(text, form):
    return datetime.datetime.strptime(text, form) if form else text


def _is_size(text):
    """Whether it is a size of a table's piece ('1MB'); a plain number, or nothing, means files."""
    return bool(text) and not str(text).isdigit()


def _bytes(text):
    text = str(text or "").strip().upper()
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)):
        if text.endswith(unit):
            return int(float(text[: -len(unit)] or 1) * size)
    return DEFAULT_BYTES


def _pieces(name, files, size):
    """Pieces of tables by the size of their lines; a parquet file is one piece."""
    found = []
    for path in files:
        if path.lower().endswith(".parquet"):
            import pandas

            count = len(pandas.read_parquet(path))
            found.append({"input": name, "table": path, "rows": None, "count": count, "key": {}})
            continue
        start, count, held = 0, 0, 0
        with io.open(path, encoding="utf-8", newline="") as f:
            lines = csv.reader(f, delimiter="\t" if path.lower().endswith(".tsv") else ",")
            next(lines, None)
            for line in lines:
                count += 1
                held += sum(len(cell) + 1 for cell in line)
                if held >= size:
                    found.append({"input": name, "table": path, "rows": (start, count), "count": count, "key": {}})
                    start, count, held = start + count, 0, 0
        if count:
            found.append({"input": name, "table": path, "rows": (start, count), "count": count, "key": {}})
    return found


def _load(name):
    """The table of a data set that is an input of this run, as the script itself would read it."""
    if sys.version_info < (3, 9):
        raise ValueError(
            "Input '%s' is a TabularDataset, which needs Python 3.9 or newer in the step's environment; this is %d.%d. "
            "Give it as a FileDataset (to_csv_files)." % ((name,) + tuple(sys.version_info[:2]))
        )
    # By name: the worker knows nothing of the SDK, which is offered to the run beside it.
    run = importlib.import_module("rookery.sdk.run").Run.get_context()
    return run.input_datasets[name].to_pandas_dataframe()


def _rows(name, size):
    frame = _frames[name]
    total = len(frame)
    if not total:
        return []
    each = float(frame.memory_usage(index=False, deep=True).sum()) / total
    step = max(1, int(size / max(each, 1.0)))
    return [
        {"input": name, "frame": name, "rows": (i, min(i + step, total)), "count": min(step, total - i), "key": {}}
        for i in range(0, total, step)
    ]


def _rows_by_key(name, keys):
    frame = _frames[name]
    missing = [key for key in keys if key not in frame.columns]
    if missing:
        raise ValueError(
            "partition_keys: input '%s' has no column '%s'. It has: %s."
            % (name, missing[0], ", ".join(str(column) for column in frame.columns))
        )
    groups = {}  # type: dict
    order = []  # type: list
    for place, values in enumerate(frame[keys].itertuples(index=False, name=None)):
        if values not in groups:
            order.append(values)
        groups.setdefault(values, []).append(place)
    return [
        {"input": name, "frame": name, "rows": groups[v], "count": len(groups[v]), "key": dict(zip(keys, v))}
        for v in order
    ]
