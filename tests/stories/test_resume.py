"""A node is lost, on purpose or not, and the run goes on; an error of the script spends another budget."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rookery.sdk import (
    AmlCompute,
    ComputeTarget,
    Environment,
    Experiment,
    PyTorchConfiguration,
    Retries,
    ScriptRunConfig,
    Workspace,
)
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import wait_for_end

pytestmark = pytest.mark.slow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOG = "azureml-logs/70_driver_log.txt"
# Waits until a file beside the checkpoints tells it to end; notes each attempt.
WAITS = """
import os, sys, time
from rookery.worker import checkpoint_dir, should_stop
attempt = os.environ["ROOKERY_ATTEMPT"]
should_stop()  # from here on SIGTERM ends nothing: the test asks as soon as it sees the line
print("attempt", attempt, "finds", sorted(os.listdir(checkpoint_dir())), flush=True)
open(os.path.join(checkpoint_dir(), "seen-" + attempt), "w").close()
if attempt == "1":
    while not should_stop():
        time.sleep(0.02)
    sys.exit(85)
print("done", flush=True)
"""


@pytest.fixture
def ws(monkeypatch):
    monkeypatch.setenv("ROOKERY_ELASTIC_WAIT_S", "0.5")  # for the keeper that this starts
    return Workspace.create("resume")


@pytest.fixture
def submit(ws, tmp_path):
    source = tmp_path / "source"
    source.mkdir()

    def submit(text, retries=None, compute=None, distributed=None):
        (source / "train.py").write_text(text)
        here = Environment("here")
        here.python.user_managed_dependencies = True
        here.python.interpreter_path = sys.executable
        config = ScriptRunConfig(
            str(source),
            script="train.py",
            compute_target=compute,
            environment=here,
            distributed_job_config=distributed,
        )
        if retries is not None:
            config.run_config.retries = retries
        return Experiment(ws, "resume").submit(config)

    return submit


def make_cluster(ws, name="spot", **fields):
    given = {"vm_size": "", "vm_priority": "lowpriority", "max_nodes": 1, **fields}
    return ComputeTarget.create(ws, name, AmlCompute.provisioning_configuration(**given))


def log_of(run):
    return run.get_details_with_logs()["logFiles"].get(LOG, "")


def wait_for(condition, what, timeout_s=120):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.05)


class TestPreemption:
    def test_a_preempted_run_resumes_and_completes(self, ws, submit):
        cluster = make_cluster(ws)
        run = submit(WAITS, compute="spot")  # no word about retries: a low-priority cluster gives them
        wait_for(lambda: "attempt 1" in log_of(run), "the first attempt")
        taken = cluster.preempt(grace_s=60, away_s=10)
        assert taken["run_id"] == run.id
        wait_for(lambda: [n["nodeState"] for n in cluster.list_nodes()] == ["preempted"], "the node to be away")

        def is_waiting():
            data = ws.client.request("GET", f"/runs/{run.id}")
            words = "1 preempted" in data["reason"] or "waits for 1 node" in data["reason"]
            return data["status"] == "Queued" and words

        wait_for(is_waiting, "the run to be queued again, and to say so")
        details = wait_for_end(run)
        assert details["status"] == "Completed", details
        assert log_of(run) == "attempt 1 finds []\nattempt 2 finds ['seen-1']\ndone\n"
        first, second = details["attempts"]
        assert (first["result"], first["cause"]["kind"]) == ("lost", "Preempted")
        assert first["cause"]["summary"].startswith(f"Node '{taken['node']}' was preempted. 1 of 1 ranks saved")
        assert first["nodes"][0]["ranks"] == [{"rank": 0, "exit_code": 85, "signal": None}]
        assert (second["result"], second["cause"]) == ("completed", None)
        assert first["started_utc"] < first["ended_utc"] < second["started_utc"] < second["ended_utc"]
        kept = WorkspacePaths(ws.root).checkpoints(run.id)
        wait_for(lambda: not os.path.exists(kept), "the checkpoints to be removed")

    def test_a_dedicated_cluster_refuses_unless_forced(self, ws, submit):
        cluster = make_cluster(ws, "steady", vm_priority="dedicated")
        run = submit("import time\nprint('begins', flush=True)\ntime.sleep(60)", compute="steady")
        wait_for(lambda: "begins" in log_of(run), "its first line")
        with pytest.raises(Exception, match=r"dedicated.*--force"):
            cluster.preempt()
        cluster.preempt(grace_s=60, force=True)
        details = wait_for_end(run)
        assert details["status"] == "Failed"  # it ignores nothing and a dedicated cluster gives no retry
        assert details["error"]["error"]["code"] == "Preempted"

    def test_the_command_line_takes_nodes_and_shows_attempts(self, ws, submit):
        make_cluster(ws)
        run = submit(WAITS, compute="spot")
        wait_for(lambda: "attempt 1" in log_of(run), "the first attempt")
        said = rookery(ws, "compute", "preempt", "spot", "--grace", "60", "--away", "0", "--json")
        assert json.loads(said)["run_id"] == run.id
        run.wait_for_completion()
        shown = rookery(ws, "show", run.id)
        assert "Attempts" in shown
        assert "was preempted" in shown
        assert [a["result"] for a in json.loads(rookery(ws, "show", run.id, "--json"))["attempts"]] == [
            "lost",
            "completed",
        ]
        assert "[rank 0] attempt 2" in rookery(ws, "logs", run.id, "--all")
        assert rookery(ws, "logs", run.id, "--rank", "0") == log_of(run)


class TestElastic:
    def test_two_nodes_go_on_as_one(self, ws, submit):
        cluster = make_cluster(ws, "pair", max_nodes=2)
        script = """
import os, time
from rookery.worker import leave_for_resume, should_stop
should_stop()
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], flush=True)
while os.environ["WORLD_SIZE"] == "2":
    if should_stop():
        leave_for_resume()
    time.sleep(0.02)
"""
        run = submit(script, Retries(min_nodes=1), "pair", PyTorchConfiguration(process_count=2, node_count=2))
        wait_for(lambda: len(ranks_seen(run)) == 2, "both ranks")
        taken = cluster.preempt("pair-1", grace_s=60, away_s=120)
        assert taken["run_id"] == run.id
        details = wait_for_end(run)
        assert details["status"] == "Completed", details
        first, second = details["attempts"]
        assert [(n["result"], [r["exit_code"] for r in n["ranks"]]) for n in first["nodes"]] == [("lost", [85])] * 2
        assert [n["result"] for n in second["nodes"]] == ["completed"]
        assert "rank 0 of 1" in "".join(run.get_details_with_logs()["logFiles"].values())
        assert any("1 of 2 nodes" in w["message"] for w in details["warnings"])


def ranks_seen(run):
    logs = run.get_details_with_logs()["logFiles"]
    return [name for name, text in logs.items() if "driver_log" in name and "of 2" in text]


class TestBudgets:
    def test_a_killed_agent_spends_the_budget_of_lost_nodes(self, ws, submit):
        run = submit(WAITS, Retries(lost_node=1))
        wait_for(lambda: "attempt 1" in log_of(run), "the first attempt")
        with open(WorkspacePaths(ws.root).attempt(run.id, 1).node(0).agent) as f:
            os.kill(json.load(f)["pid"], signal.SIGKILL)
        details = wait_for_end(run)
        assert details["status"] == "Completed", details
        assert [(a["result"], (a["cause"] or {}).get("kind")) for a in details["attempts"]] == [
            ("lost", "NodeLost"),
            ("completed", None),
        ]

    def test_an_error_spends_the_budget_of_errors_and_each_cause_is_kept(self, submit):
        fails = "import os\nraise ValueError('in attempt ' + os.environ['ROOKERY_ATTEMPT'])"
        details = wait_for_end(submit(fails, Retries(lost_node=3, user_error=1)))
        assert details["status"] == "Failed"
        assert "in attempt 2" in details["error"]["error"]["message"]
        assert [a["cause"]["exception"] for a in details["attempts"]] == [
            "ValueError: in attempt 1",
            "ValueError: in attempt 2",
        ]

    def test_a_lost_node_is_not_paid_from_the_budget_of_errors(self, ws, submit):
        run = submit(WAITS, Retries(user_error=5))
        wait_for(lambda: "attempt 1" in log_of(run), "the first attempt")
        with open(WorkspacePaths(ws.root).attempt(run.id, 1).node(0).agent) as f:
            os.kill(json.load(f)["pid"], signal.SIGKILL)
        details = wait_for_end(run)
        assert (details["status"], len(details["attempts"])) == ("Failed", 1)


def test_the_example_resumes(ws, tmp_path):
    ws.write_config(path=str(tmp_path))
    example = os.path.join(ROOT, "examples", "resume.py")
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Attempt 2 resumed at step" in done.stdout
    assert "Finished all 200 steps: 19900" in done.stdout
    assert "Attempt 2: completed" in done.stdout


def rookery(ws, *words):
    command = [sys.executable, "-m", "rookery.cli.main", "-C", ws.root, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
