"""Runs an entry script over mini batches: `init()` once per process, `run(mini_batch)` for each. Python 3.6, standard library.

    python -m rookery.worker.parallel_run --entry score.py --input NAME=PATH --output FOLDER [options] [-- arguments of the script]

What `run` returns is a row for each file (or line of a table) that worked. A batch that raises, or takes too long, is tried again;
what still fails counts against the error threshold. With `append_row` the rows of all batches, in order, are one file. How batches
are cut (`--table`, `--keys`, `--pattern`, `--mini-batch`) is in `parallel_batches`.
"""

import argparse
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

from rookery.worker.entry_script import offer
from rookery.worker.parallel_batches import cut, mini_batch

__all__ = ["MiniBatchContext", "main"]


class MiniBatchContext(object):
    """What `run(mini_batch, mini_batch_context)` is told besides."""

    def __init__(self, number, input_name, key):
        self.minibatch_index = number
        self.dataset_name = input_name
        self.partition_key_value = key  # {key: value} where the step has partition_keys


class _TooLong(Exception):
    pass


def main(words=None):
    options, rest = _parse(sys.argv[1:] if words is None else words)
    options.processes *= max(1, options.nodes)
    try:
        batches = cut(options)
    except ValueError as wrong:
        sys.stderr.write("%s\n" % wrong)
        return 1
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
    if _too_many(options, len(errors), len(batches)):
        return 1
    if options.append_row:
        with io.open(os.path.join(options.output, options.append_row), "w", encoding="utf-8") as f:
            for row in rows:
                f.write(row + "\n")
    return 0


def _too_many(options, failed, total):
    """Whether more mini batches failed than allowed_failed_count or allowed_failed_percent lets pass; says so."""
    count, percent = options.allowed_failed_count, options.allowed_failed_percent
    if count is not None and failed > count:
        sys.stderr.write("%d mini batches failed; allowed_failed_count=%d.\n" % (failed, count))
        return True
    if percent is not None and total and 100.0 * failed / total > percent:
        sys.stderr.write("%d of %d mini batches failed; allowed_failed_percent=%g.\n" % (failed, total, percent))
        return True
    return False


def _parse(words):
    parser = argparse.ArgumentParser(prog="parallel_run")
    parser.add_argument("--entry", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--table", action="append", default=[])
    parser.add_argument("--keys", default="")
    parser.add_argument("--pattern", action="append", default=[])
    parser.add_argument("--output", default="")
    parser.add_argument("--append-row", default="")
    parser.add_argument("--mini-batch", default="")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--error-threshold", type=int, default=-1)
    parser.add_argument("--allowed-failed-count", type=int, default=None)
    parser.add_argument("--allowed-failed-percent", type=float, default=None)
    parser.add_argument("--logging-level", default="INFO")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--tries", type=int, default=3)
    at = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:at]), list(words[at + 1 :])


def _work(options, rest, batches):
    """[(rows or None, error)] in order."""
    jobs = [(number, batch) for number, batch in enumerate(batches)]
    if options.processes <= 1 or len(jobs) <= 1:
        _begin(options, rest)
        return [_one(job) for job in jobs]
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    pool = multiprocessing.get_context(method).Pool(min(options.processes, len(jobs)), _begin_in_pool, (options, rest))
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
    identity = multiprocessing.current_process()._identity  # none in the first process
    offer(options.output, options.logging_level, identity[0] - 1 if identity else 0)
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


def _begin_in_pool(options, rest):
    """As `_begin`. A pool would start a process that ends here again, for ever: the first batch says what was wrong instead."""
    try:
        _begin(options, rest)
    except BaseException as wrong:
        if not isinstance(wrong, SystemExit):
            traceback.print_exc()
        _here["wrong"] = "%s: %s" % (type(wrong).__name__, wrong)


def _one(job):
    if "wrong" in _here:
        raise RuntimeError("The entry script could not be started: %s" % _here["wrong"])
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
    given = mini_batch(batch)
    context = MiniBatchContext(number, batch["input"], batch["key"])
    return _here["run"](given, context) if _here["wants"] > 1 else _here["run"](given)


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
