"""Mode watch: an agent that follows the user's own process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rookery.agent.proc import start_ticks
from rookery.worker.http import HttpClient, unix_connector
from rookery.worker.journal import Journal


@pytest.fixture
def user(bench):
    """The user's process, and the folder it works in."""
    folder = os.path.join(bench.folder, "project")
    os.makedirs(os.path.join(folder, "outputs"))
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=folder)
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def watch_job(bench, user, **fields):
    work = os.path.join(bench.folder, "project")
    return bench.job(
        mode="watch",
        ranks=(),
        work=work,
        watched_pid=user.pid,
        watched_start_ticks=start_ticks(user.pid),
        **fields,
    )


@pytest.fixture
def client(bench):
    made = HttpClient(unix_connector(os.path.join(bench.folder, "a.sock")), prefix="")
    yield made
    made.close()


class TestWatch:
    def test_finish_drains_collects_and_completes(self, bench, user, client):
        agent = bench.start(watch_job(bench, user))
        bench.keeper.wait_for("running")
        rank = bench.paths.rank(0)
        Journal(rank.journal, rank.uploads).scalar("x", 1.5)
        with open(os.path.join(bench.folder, "project", "outputs", "m"), "w") as f:
            f.write("model")
        assert client.request("GET", "/agent")["mode"] == "watch"
        answer = client.request("POST", "/finish", body={"status": "Completed", "error": None})
        assert answer == {"state": "finished"}
        assert agent.wait(90) == 0
        assert bench.keeper.wait_for("outcome", 0)["result"] == "completed"
        assert bench.keeper.metrics(bench.run_id)["x"]["values"] == [1.5]
        assert bench.keeper.artifacts[bench.run_id] == {"outputs/m": b"model"}
        assert os.path.exists(os.path.join(bench.folder, "project", "outputs", "m")), "the user's folder is the user's"
        assert user.poll() is None

    def test_failed_with_the_error_given(self, bench, user, client):
        agent = bench.start(watch_job(bench, user))
        bench.keeper.wait_for("running")
        error = {"kind": "UserError", "summary": "ValueError: no"}
        client.request("POST", "/finish", body={"status": "Failed", "error": error})
        assert agent.wait(90) == 0
        outcome = bench.keeper.wait_for("outcome", 0)
        assert outcome["result"] == "failed"
        assert outcome["cause"] == error

    def test_killed_process_is_a_failed_run(self, bench, user):
        agent = bench.start(watch_job(bench, user))
        bench.keeper.wait_for("running")
        user.kill()
        assert agent.wait(90) == 0
        outcome = bench.keeper.wait_for("outcome", 0)
        assert outcome["result"] == "failed"
        assert f"The process {user.pid} ended without completing the run" in outcome["cause"]["summary"]

    def test_cancel_leaves_the_process_alone(self, bench, user):
        agent = bench.start(watch_job(bench, user))
        bench.keeper.wait_for("running")
        bench.keeper.command("cancel", grace_s=0.1)
        assert agent.wait(90) == 0
        assert bench.keeper.wait_for("outcome", 0)["result"] == "canceled"
        assert user.poll() is None

    def test_reused_pid_is_not_the_process(self, bench, user):
        job = watch_job(bench, user)
        job = bench.job(mode="watch", ranks=(), work=job.work, watched_pid=user.pid, watched_start_ticks=1)
        outcome = bench.run(job)
        assert outcome["result"] == "failed"
