"""`kill -9` of the keeper, of the agent, of a rank, at random moments, again and again.

Afterwards no run is left Running, what was acknowledged is still there, what is there is exact, and the next command just works.
"""

import contextlib
import json
import os
import random
import signal
import time

import pytest

from rookery.sdk import Experiment, Run, ScriptRunConfig, Workspace
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import wait_for_end

LINES = 60
SCRIPT = f"""
import time
from azureml.core import Run
run = Run.get_context()
for i in range({LINES}):
    run.log("i", i)
    print("line", i)
    time.sleep(0.01)
"""
PRINTED = "".join(f"line {i}\n" for i in range(LINES))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(int(os.environ.get("SOAK_SEEDS", "3"))))
def test_nothing_acknowledged_is_lost_and_no_run_stays_running(tmp_path, seed, count_hit):
    rng = random.Random(seed)
    ws = Workspace.create("chaos")
    paths = WorkspacePaths(ws.root)
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text(SCRIPT)
    experiment = Experiment(ws, "chaos")
    outcomes = {}
    for turn in range(18):
        victim = ("keeper", "agent", "rank")[turn % 3]
        run = experiment.submit(ScriptRunConfig(str(source), script="train.py"))
        time.sleep(rng.uniform(0.0, 1.1))
        acknowledged = _count(run)
        hit = _kill(victim, paths, run.id)
        count_hit(victim if hit else None)
        details = wait_for_end(run)
        status = details["status"]
        outcomes.setdefault((victim, hit, status), []).append(run.id)
        assert status in ("Completed", "Failed"), details
        if victim == "keeper" or not hit:
            assert status == "Completed", details["error"]
        if status == "Failed":
            assert details["error"]["error"]["message"].strip(), "a failure without a cause"

        text = run.get_details_with_logs()["logFiles"].get("azureml-logs/70_driver_log.txt", "")
        values = _values(run)
        # Its output is not buffered: a `print` is several writes, and a kill may fall between two of them.
        assert PRINTED.startswith(text), "log bytes are not exact"
        assert values == list(range(len(values))), "metric values are not exact"
        assert len(values) >= acknowledged
        if status == "Completed":
            assert text == PRINTED
            assert len(values) == LINES
    assert not [r for r in experiment.get_runs() if r.get_status() not in ("Completed", "Failed")]
    assert any(hit for _, hit, _ in outcomes), outcomes


def _count(run):
    return len(_values(run))


def _values(run):
    value = run.get_metrics().get("i", [])
    return value if isinstance(value, list) else [value]


def _kill(victim, paths, run_id):
    """Kill -9 one of the three, if it is there at this moment; tells whether it was."""
    node = paths.attempt(run_id, 1).node(0)
    source = {"keeper": paths.endpoint, "agent": node.agent, "rank": node.rank(0).process}[victim]
    with contextlib.suppress(OSError, ValueError):
        with open(source) as f:
            pid = json.load(f)["pid"]
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            command = f.read()
        expected = {"keeper": b"rookery.server", "agent": b"rookery.agent", "rank": b"train.py"}[victim]
        if expected in command or (victim == "agent" and b"agent" in command):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def test_a_killed_notebook_leaves_no_run_running(tmp_path):
    import subprocess
    import sys

    ws = Workspace.create("notebook")
    ws.write_config(path=str(tmp_path))
    code = "import os, signal\nfrom azureml.core import Experiment, Workspace\nrun = Experiment(Workspace.from_config(), 'nb').start_logging(snapshot_directory=None)\nrun.log('x', 7)\nprint(run.id, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False
    )
    run = Run.get(ws, done.stdout.split()[-1])
    details = wait_for_end(run)
    assert details["status"] == "Failed"
    assert "ended without completing" in details["error"]["error"]["message"]
    assert run.get_metrics() == {"x": 7}
