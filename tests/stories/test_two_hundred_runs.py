"""Two hundred runs submitted at once from twenty processes: all finish, none lost, none doubled."""

import collections
import os
import subprocess
import sys

import pytest

from rookery.sdk import AmlCompute, ComputeTarget, Run, Workspace
from rookery.testing.ending import wait_for_end

PROCESSES, RUNS_EACH = 20, 10

SCRIPT = """
import os
with open(os.environ["TALLY"], "a") as f:
    f.write(os.environ["ROOKERY_RUN_ID"] + "\\n")
print("done", os.environ["ROOKERY_RUN_ID"])
"""

SUBMITTER = """
import sys
from rookery.sdk import Experiment, RunConfiguration, ScriptRunConfig, Workspace
ws = Workspace.from_config(sys.argv[1])
experiment = Experiment(ws, "flood")
for _ in range(int(sys.argv[3])):
    config = RunConfiguration()
    config.target = "pool"
    config.environment_variables = {"TALLY": sys.argv[4]}
    print(experiment.submit(ScriptRunConfig(sys.argv[2], script="tally.py", run_config=config)).id, flush=True)
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_finish_none_lost_none_doubled(tmp_path):
    ws = Workspace.create("flood")
    ws.write_config(path=str(tmp_path))
    ComputeTarget.create(ws, "pool", AmlCompute.provisioning_configuration(max_nodes=6))
    source, tally = tmp_path / "source", tmp_path / "tally.txt"
    source.mkdir()
    (source / "tally.py").write_text(SCRIPT)
    command = [sys.executable, "-c", SUBMITTER, str(tmp_path), str(source), str(RUNS_EACH), str(tally)]
    submitters = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    submitted = []
    for process in submitters:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        submitted += out.split()
    assert len(set(submitted)) == PROCESSES * RUNS_EACH

    for run_id in submitted:
        wait_for_end(Run.get(ws, run_id))
    statuses = collections.Counter(Run.get(ws, run_id).get_status() for run_id in submitted)
    assert statuses == {"Completed": len(submitted)}
    assert sorted(tally.read_text().split()) == sorted(submitted), "a run was executed twice or never"
    assert {run.id for run in ws.experiments["flood"].get_runs()} == set(submitted)
    assert not [p for p in os.listdir("/proc") if p.isdigit() and _belongs_to(p, str(tmp_path))]


def _belongs_to(pid, folder):
    """Whether a rank of this test is still alive."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return b"TALLY=" + folder.encode() in f.read()
    except OSError:
        return False
