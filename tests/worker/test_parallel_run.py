"""The entry scripts of ParallelRunStep: mini batches in order, tries, thresholds, time limits."""

from __future__ import annotations

import json
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
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=str(tmp_path))
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


@pytest.mark.slow
def test_a_batch_that_takes_too_long_is_given_up(run):
    done, rows = run(["a", "slow"], "--mini-batch=1", "--timeout=3", "--tries=1", "--error-threshold=-1")
    assert (done.returncode, rows) == (0, ["r 0 a"])
    assert "run_invocation_timeout=3" in done.stderr


def test_files_of_the_same_keys_are_one_batch(run, tmp_path):
    """And what the script is told of them; a file that is named otherwise is an error that says so."""
    (tmp_path / "entry.py").write_text(
        "import os\n"
        "def run(mini_batch, context):\n"
        "    key = context.partition_key_value\n"
        "    return ['%s %d %s' % (key['bird'], key['day'].day, os.path.basename(path)) for path in mini_batch]\n"
    )
    for place in ("chicken/2026-11-01", "turkey/2026-11-01", "chicken/2026-11-02"):
        (tmp_path / "in" / place).mkdir(parents=True)
        (tmp_path / "in" / place / "a.png").write_text("")
    (tmp_path / "in" / "chicken" / "2026-11-01" / "b.png").write_text("")
    expression = r"/(?P<bird>[^/]+?)/(?P<day>\d{4}\-\d{2}\-\d{2})/[^/]*\.png\Z"
    pattern = {"expression": expression, "formats": {"day": "%Y-%m-%d"}, "format": "/{bird}/{day:yyyy-MM-dd}/*.png"}
    options = ["--keys", '["bird", "day"]', "--pattern", f"files={json.dumps(pattern)}", "--mini-batch=1"]
    done, rows = run([], *options)
    assert done.returncode == 0, done.stderr
    assert "3 mini batches" in done.stdout
    assert rows == ["chicken 1 a.png", "chicken 1 b.png", "chicken 2 a.png", "turkey 1 a.png"]
    done, _ = run(["odd.png"], *options)
    assert done.returncode == 1
    assert "'/odd.png' of input 'files' does not look like its partition_format" in done.stderr


def test_tables_that_are_files_stay_files_without_a_size(run, tmp_path):
    (tmp_path / "entry.py").write_text("def run(mini_batch):\n    return [open(path).read() for path in mini_batch]\n")
    (tmp_path / "in" / "a.csv").write_text("x")
    done, rows = run([])
    assert (done.returncode, rows) == (0, ["x"]), done.stderr


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_entry_script_has_a_logger_and_a_folder(run, tmp_path, processes):
    (tmp_path / "entry.py").write_text(
        "import os\n"
        "from azureml_user.parallel_run import EntryScript\n"
        "def init():\n"
        "    EntryScript().logger.debug('not this')\n"
        "    EntryScript().logger.warning('it begins')\n"
        "def run(mini_batch):\n"
        "    script = EntryScript()\n"
        "    for path in mini_batch:\n"
        "        script.logger.info('did %s', os.path.basename(path))\n"
        "        open(os.path.join(script.output_dir, os.path.basename(path) + '.done'), 'w').close()\n"
        "    return mini_batch\n"
    )
    done, _ = run(["a", "b", "c"], "--mini-batch=1", f"--processes={processes}", "--logging-level=INFO")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.done", "b.done", "c.done", "rows.txt"}
    logs = sorted((tmp_path / "logs" / "user" / "entry_script_log" / "0").iterdir())
    # The second process may have had nothing left to do before it began.
    assert {log.name for log in logs} <= {f"process00{n}.log.txt" for n in range(int(processes))}
    lines = "".join(log.read_text() for log in logs).splitlines()
    assert sorted(line.split("|", 3)[1:4:2] for line in lines if "did" in line) == [["INFO", f"did {n}"] for n in "abc"]
    assert any("|WARNING|" in line and line.endswith("it begins") for line in lines)
    assert "not this" not in str(lines)


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("wrong", ["raise ValueError('no model here')", "exit('no model here')"])
def test_an_entry_script_that_cannot_start_ends_the_step(run, tmp_path, processes, wrong):
    (tmp_path / "entry.py").write_text(f"def init():\n    {wrong}\ndef run(mini_batch):\n    return mini_batch\n")
    done, rows = run(["a", "b", "c"], "--mini-batch=1", f"--processes={processes}")
    assert (done.returncode, rows) == (1, None)
    assert "no model here" in done.stderr


@pytest.mark.parametrize(("allowed", "code"), [("count=0", 1), ("count=1", 0), ("percent=49", 1), ("percent=50", 0)])
def test_how_many_mini_batches_may_fail(run, allowed, code):
    done, _ = run(["a", "bad"], "--mini-batch=1", "--tries=1", f"--allowed-failed-{allowed}")
    assert done.returncode == code, done.stderr
    assert (f"allowed_failed_{allowed}" in done.stderr) == bool(code)
