"""The entry scripts of ParallelRunStep: mini batches in order, tries, thresholds, time limits."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, time

def init():
    global told
    told = "r"

def run(mini_batch, mini_batch_context):
    names = [os.path.basename(path) for path in mini_batch]
    if "bad" in names:
        raise ValueError("bad file")
    if "slow" in names:
        time.sleep(30)
    return ["%s %d %s" % (told, mini_batch_context.minibatch_index, name) for name in names]
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "entry.py").write_text(SCRIPT)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()

    def call(names, *options):
        for name in names:
            (tmp_path / "in" / name).write_text("")
        command = [
            sys.executable, "-m", "rookery.worker.parallel_run", "--entry", str(tmp_path / "entry.py"),
            "--input", f"files={tmp_path / 'in'}", "--output", str(tmp_path / "out"), "--append-row", "rows.txt", *options,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        rows = tmp_path / "out" / "rows.txt"
        return done, rows.read_text().splitlines() if rows.exists() else None

    return call


@pytest.mark.parametrize("processes", ["1", "3"])
def test_rows_are_in_order_whoever_made_them(run, processes):
    done, rows = run(["a", "b", "c", "d", "e"], "--mini-batch=2", f"--processes={processes}")
    assert done.returncode == 0, done.stderr
    assert rows == ["r 0 a", "r 0 b", "r 1 c", "r 1 d", "r 2 e"]


def test_what_fails_counts_against_the_threshold(run):
    done, rows = run(["a", "bad"], "--mini-batch=1", "--error-threshold=0", "--tries=2")
    assert done.returncode == 1
    assert rows is None
    assert done.stderr.count("ValueError: bad file") >= 2, "it was tried twice"
    assert "error_threshold=0" in done.stderr


def test_below_the_threshold_the_rest_is_kept(run):
    done, rows = run(["a", "bad"], "--mini-batch=1", "--error-threshold=1", "--tries=1")
    assert (done.returncode, rows) == (0, ["r 0 a"])


def test_a_batch_that_takes_too_long_is_given_up(run):
    done, rows = run(["a", "slow"], "--mini-batch=1", "--timeout=0.2", "--tries=1", "--error-threshold=-1")
    assert (done.returncode, rows) == (0, ["r 0 a"])
    assert "run_invocation_timeout=0.2" in done.stderr
