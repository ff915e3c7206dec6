"""Preemptions and kills at random moments: a run that keeps checkpoints completes, and does every step."""

import contextlib
import json
import os
import random
import signal
import sys
import time

import pytest

from rookery.sdk import AmlCompute, ComputeTarget, Environment, Experiment, Retries, ScriptRunConfig, Workspace
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import wait_for_end

STEPS = 120
BLOWS = 3
# Lines are written whole: a kill between two writes of a `print` would leave half a line before the next attempt's first.
SCRIPT = f"""
import os, time
from rookery.worker import checkpoint_dir, leave_for_resume, should_stop
done = os.path.join(checkpoint_dir(), "done")
first = int(open(done).read()) if os.path.exists(done) else 0
os.write(1, b"attempt %s from %d\\n" % (os.environ["ROOKERY_ATTEMPT"].encode(), first))
for step in range(first, {STEPS}):
    if should_stop():
        leave_for_resume()
    os.write(1, b"step %d\\n" % step)
    with open(done + ".new", "w") as f:
        f.write(str(step + 1))
    os.replace(done + ".new", done)
    time.sleep(0.01)
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(int(os.environ.get("SOAK_SEEDS", "1"))))
def test_every_run_completes_and_does_every_step(tmp_path, seed, count_hit):
    rng = random.Random(seed)
    ws = Workspace.create("spot")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.py").write_text(SCRIPT)
    here = Environment("here")
    here.python.user_managed_dependencies = True
    here.python.interpreter_path = sys.executable
    spot = ComputeTarget.create(
        ws, "spot", AmlCompute.provisioning_configuration(vm_size="", vm_priority="lowpriority", max_nodes=1)
    )
    blows = []
    for _turn in range(4):
        config = ScriptRunConfig(str(tmp_path / "source"), script="train.py", compute_target="spot", environment=here)
        config.run_config.retries = Retries(lost_node=BLOWS)
        run = Experiment(ws, "spot").submit(config)
        for _blow in range(BLOWS):
            time.sleep(rng.uniform(0.0, 1.2))
            blows.append(_strike(rng.choice(("preempt", "agent", "keeper")), ws, spot, run, rng))
            count_hit(blows[-1])
        details = wait_for_end(run)
        assert details["status"] == "Completed", (blows, details.get("error"))
        lines = run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"].splitlines()
        steps = [int(line.split()[1]) for line in lines if line.startswith("step")]
        assert set(steps) == set(range(STEPS)), "a step is missing"
        starts = [line.split() for line in lines if line.startswith("attempt")]
        # A rank that dies between a step and its checkpoint does that one step again, and no other.
        assert len(steps) <= STEPS + len(starts) - 1
        assert [int(s[1]) for s in starts] == sorted({int(s[1]) for s in starts})
        assert all(a["result"] == "lost" for a in details["attempts"][:-1])
        assert details["attempts"][-1]["result"] == "completed"
    assert any(blows), "nothing was ever hit"


def _strike(how, ws, spot, run, rng):
    """One blow, if there is something to hit at this moment; what was hit, or None."""
    if how == "preempt":
        with contextlib.suppress(Exception):  # no node is up just now
            return "preempt" if spot.preempt(grace_s=rng.choice((0, 5)), away_s=0.2)["run_id"] else None
        return None
    paths = WorkspacePaths(ws.root)
    attempt = ws.client.request("GET", f"/runs/{run.id}")["attempt"]
    source = paths.endpoint if how == "keeper" else paths.attempt(run.id, attempt).node(0).agent
    with contextlib.suppress(OSError, ValueError):
        with open(source) as f:
            pid = json.load(f)["pid"]
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            command = f.read()
        if b"rookery" in command:
            os.kill(pid, signal.SIGKILL)
            return how
    return None
