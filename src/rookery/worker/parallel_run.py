"""Runs an entry script over mini batches: `init()` once per process, `run(mini_batch)` for each. Python 3.6, standard library.

    python -m rookery.worker.parallel_run --entry score.py --input NAME=PATH --output FOLDER [options] [-- arguments of the script]

What `run` returns is a row for each file (or line of a table) that worked. A batch that raises, or takes too long, is tried again;
what still fails counts against the error threshold. With `append_row` the rows of all batches, in order, are one file.
"""

import argparse
import csv
import importlib.util
import inspect
import io
import json
import multiprocessing
import os
import signal
import sys
import traceback
from typing import Any  # noqa: F401  (in comments, for Python 3.6)

__all__ = ["MiniBatchContext", "main"]

DEFAULT_FILES, DEFAULT_BYTES = 10, 1024 * 1024
TABLES = (".csv", ".tsv", ".parquet")


class MiniBatchContext(object):
    """What `run(mini_batch, mini_batch_context)` is told besides."""

    def __init__(self, number, input_name):
        self.minibatch_index = number
        self.dataset_name = input_name
        self.partition_key_value = {}


class _TooLong(Exception):
    pass


def main(words=None):
    options, rest = _parse(sys.argv[1:] if words is None else words)
    batches = _batches(options)
    print("%d mini batches in %d processes" % (len(batches), options.processes))
    sys.stdout.flush()
    results = _work(options, rest, batches)
    failed = 0
    rows = []  # type: list
    errors = []  # type: list
    for number, (batch, (made, error)) in enumerate(zip(batches, results)):
        missing = batch["count"] - (0 if made is None else len(made))
        if error:
            errors.append("mini batch %d: %s" % (number, error))
        failed += max(0, missing)
        rows.extend(made or [])
    for error in errors:
        sys.stderr.write(error + "\n")
    total = sum(batch["count"] for batch in batches)
    print("%d of %d items worked" % (total - failed, total))
    if 0 <= options.error_threshold < failed:
        sys.stderr.write(
            "%d items failed; error_threshold=%d allows no more than that.\n" % (failed, options.error_threshold)
        )
        return 1
    if options.append_row:
        with io.open(os.path.join(options.output, options.append_row), "w", encoding="utf-8") as f:
            for row in rows:
                f.write(row + "\n")
    return 0


def _parse(words):
    parser = argparse.ArgumentParser(prog="parallel_run")
    parser.add_argument("--entry", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--output", default="")
    parser.add_argument("--append-row", default="")
    parser.add_argument("--mini-batch", default="")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--error-threshold", type=int, default=-1)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--tries", type=int, default=3)
    at = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:at]), list(words[at + 1 :])


def _batches(options):
    """[{"input", "files" or "table", "count"}]."""
    found = []  # type: list
    for given in options.input:
        name, _, path = given.partition("=")
        files = _files(path)
        if files and all(f.lower().endswith(TABLES) for f in files) and _is_size(options.mini_batch):
            found.extend(_table_batches(name, files, _bytes(options.mini_batch)))
        else:
            size = int(options.mini_batch) if str(options.mini_batch).isdigit() else DEFAULT_FILES
            for i in range(0, len(files), size):
                found.append({"input": name, "files": files[i : i + size], "count": len(files[i : i + size])})
    return found


def _files(path):
    if os.path.isfile(path):
        return [path]
    found = []  # type: list
    for folder, folders, files in os.walk(path, followlinks=True):
        folders.sort()
        found.extend(os.path.join(folder, name) for name in sorted(files) if not name.startswith("."))
    return found


def _is_size(text):
    """Tables are cut by bytes; without a size, or with one, they are tables. A plain number means files."""
    return not str(text).isdigit()


def _bytes(text):
    text = str(text or "").strip().upper()
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)):
        if text.endswith(unit):
            return int(float(text[: -len(unit)] or 1) * size)
    return DEFAULT_BYTES


def _table_batches(name, files, size):
    """Pieces of tables by the size of their lines; a parquet file is one piece."""
    found = []
    for path in files:
        if path.lower().endswith(".parquet"):
            import pandas

            found.append({"input": name, "table": path, "rows": None, "count": len(pandas.read_parquet(path))})
            continue
        start, count, held = 0, 0, 0
        with io.open(path, encoding="utf-8", newline="") as f:
            lines = csv.reader(f, delimiter="\t" if path.lower().endswith(".tsv") else ",")
            next(lines, None)
            for line in lines:
                count += 1
                held += sum(len(cell) + 1 for cell in line)
                if held >= size:
                    found.append({"input": name, "table": path, "rows": (start, count), "count": count})
                    start, count, held = start + count, 0, 0
        if count:
            found.append({"input": name, "table": path, "rows": (start, count), "count": count})
    return found


def _work(options, rest, batches):
    """[(rows or None, error)] in order."""
    jobs = [(number, batch) for number, batch in enumerate(batches)]
    if options.processes <= 1 or len(jobs) <= 1:
        _begin(options, rest)
        return [_one(job) for job in jobs]
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    pool = multiprocessing.get_context(method).Pool(min(options.processes, len(jobs)), _begin, (options, rest))
    try:
        return pool.map(_one, jobs, 1)
    finally:
        pool.terminate()
        pool.join()


_here = {}  # type: dict


def _begin(options, rest):
    """In every process, once: the script is loaded as it would be by itself, and initialised."""
    folder = os.path.dirname(os.path.abspath(options.entry))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.argv = [options.entry] + list(rest)
    spec = importlib.util.spec_from_file_location("entry_script", options.entry)  # type: Any
    module = importlib.util.module_from_spec(spec)
    sys.modules["entry_script"] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "run"):
        raise AttributeError("The entry script %s has no function run(mini_batch)." % options.entry)
    if hasattr(module, "init"):
        module.init()
    wants = [p for p in inspect.signature(module.run).parameters.values() if p.kind != p.KEYWORD_ONLY]
    _here.update(run=module.run, wants=len(wants), options=options)


def _one(job):
    number, batch = job
    options, error = _here["options"], ""
    for _ in range(max(1, options.tries)):
        try:
            made = _limited(lambda: _call(number, batch), options.timeout)
            rows = [] if made is None else _rows(made)
            return rows, ""
        except _TooLong:
            error = "run() took longer than run_invocation_timeout=%g s" % options.timeout
        except Exception as caught:
            traceback.print_exc()
            error = "%s: %s" % (type(caught).__name__, caught)
    return None, error


def _call(number, batch):
    given = batch["files"] if "files" in batch else _table(batch)
    context = MiniBatchContext(number, batch["input"])
    return _here["run"](given, context) if _here["wants"] > 1 else _here["run"](given)


def _table(batch):
    import pandas

    if batch["rows"] is None:
        return pandas.read_parquet(batch["table"])
    start, count = batch["rows"]
    separator = "\t" if batch["table"].lower().endswith(".tsv") else ","
    return pandas.read_csv(batch["table"], sep=separator, skiprows=range(1, start + 1), nrows=count)


def _rows(made):
    """What `run` returned as lines: of a table its rows without the head."""
    if hasattr(made, "to_csv"):
        return [line for line in made.to_csv(header=False, index=False).splitlines() if line]
    return [
        row if isinstance(row, str) else json.dumps(row) if isinstance(row, (dict, list)) else str(row) for row in made
    ]


def _limited(call, seconds):
    if seconds <= 0 or not hasattr(signal, "setitimer"):
        return call()

    def late(number, frame):
        raise _TooLong()

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main())
