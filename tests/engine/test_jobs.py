"""From a run to job.json and the variables in it."""

from __future__ import annotations

import os
import stat

import pytest

from rookery.engine.jobs import JobLimits, as_finisher, make_job, read_job, write_job
from rookery.engine.outcome import Grant
from rookery.engine.variables import Surroundings
from rookery.environments import BuiltEnvironment
from rookery.spec.run import EnvironmentSpec, RunSpec, WatchedProcess

AROUND = Surroundings(
    workspace={"id": "guid", "name": "nest", "subscription_id": "sub", "resource_group": "group"},
    experiment_id="eid",
    keeper_url="http://127.0.0.1:1",
    run_token="rkr_run",
    token_expiry="2030-01-01T00:00:00.000000Z",
    payload="/w/payload/abc",
    inherited={"PATH": "/usr/bin", "PYTHONPATH": "/w/payload/old/first:/mine"},
)
BUILT = BuiltEnvironment(python="/env/bin/python", bin_dir="/env/bin", variables={"FROM_ENV": "1"})
LIMITS = JobLimits(cancel_grace_s=10.0, heartbeat_s=5.0)


@pytest.fixture
def job_of(paths):
    def make(grants=(Grant("n", (0, 1, 2, 3)),), around=AROUND, **fields):
        spec = RunSpec(
            **{
                "run_id": "r1",
                "experiment": "exp",
                "script": "train.py",
                "environment": EnvironmentSpec(python="python"),
                **fields,
            }
        )
        return make_job(paths, spec, 2, 0, grants, BUILT, around, "rkr_agent", "/run/a.sock", LIMITS, "/home/me")

    return make


class TestMakeJob:
    def test_a_script_runs_with_the_environments_python(self, job_of):
        job = job_of(arguments=("--a", "b c"))
        assert job.ranks[0].argv == ("/env/bin/python", "train.py", "--a", "b c")
        assert (job.mode, job.ranks[0].shell, job.ranks[0].cpus) == ("run", "", (0, 1, 2, 3))
        assert job.ranks[0].log_name == "azureml-logs/70_driver_log.txt"
        assert job.work.endswith("r1/2/node-0/wd/r1")

    def test_a_command_is_a_line_for_the_shell_where_python_is_the_environments(self, job_of):
        rank = job_of(script=None, command="python -m x && echo $RANK").ranks[0]
        assert (rank.argv, rank.shell) == ((), "python -m x && echo $RANK")
        assert rank.variables["PATH"] == "/env/bin:/usr/bin"

    def test_its_grace_and_limit_go_with_it(self, job_of):
        assert job_of().cancel_grace_s == 10.0
        assert job_of(cancel_grace_s=0.5).cancel_grace_s == 0.5
        assert job_of(max_duration_s=7).max_duration_s == 7

    def test_a_watcher_is_told_whom_to_watch_and_where(self, job_of):
        job = job_of(grants=(), kind="interactive", script=None, watched=WatchedProcess(12, 34, "here"))
        assert (job.mode, job.watched_pid, job.watched_start_ticks, job.work) == ("watch", 12, 34, "/home/me")
        assert (job.max_duration_s, job.ranks[0].log_name, job.ranks[0].argv) == (None, "", ())


class TestVariables:
    def test_a_rank_finds_its_run_and_its_agent(self, job_of, paths):
        found = job_of().ranks[0].variables
        assert found["AZUREML_RUN_ID"] == found["ROOKERY_RUN_ID"] == "r1"
        assert found["AZUREML_ARM_PROJECT_NAME"] == "exp"
        assert found["AZUREML_RUN_TOKEN"] == found["ROOKERY_RUN_TOKEN"] == "rkr_run"
        assert found["ROOKERY_ATTEMPT_KEY"] == "r1/2"
        assert found["ROOKERY_AGENT_SOCKET"] == "/run/a.sock"
        assert found["ROOKERY_JOURNAL_DIR"] == paths.attempt("r1", 2).node(0).rank(0).journal
        for name in ("SUBSCRIPTION", "RESOURCEGROUP", "WORKSPACE_NAME"):
            assert found[f"AZUREML_ARM_{name}"]
        assert found["AZUREML_SERVICE_ENDPOINT"]

    def test_ours_cannot_be_overridden_and_the_users_are_kept(self, job_of):
        found = (
            job_of(variables={"ROOKERY_RUN_ID": "evil", "MINE": "x", "FROM_ENV": "2", "OMP_NUM_THREADS": "9"})
            .ranks[0]
            .variables
        )
        assert (found["ROOKERY_RUN_ID"], found["MINE"], found["FROM_ENV"], found["OMP_NUM_THREADS"]) == (
            "r1",
            "x",
            "2",
            "9",
        )
        assert found["MKL_NUM_THREADS"] == "4"

    def test_the_payload_comes_first_and_an_older_one_not_at_all(self, job_of):
        assert job_of().ranks[0].variables["PYTHONPATH"] == "/w/payload/abc/first:/mine"
        assert (
            job_of(variables={"PYTHONPATH": "/theirs"}).ranks[0].variables["PYTHONPATH"]
            == "/w/payload/abc/first:/theirs"
        )
        assert job_of(variables={"PYTHONUNBUFFERED": "0"}).ranks[0].variables["PYTHONUNBUFFERED"] == "0"

    def test_gpus_are_named_only_where_there_are_any(self, job_of):
        assert "CUDA_VISIBLE_DEVICES" not in job_of().ranks[0].variables
        around = Surroundings(**{**AROUND.__dict__, "has_gpus": True})
        assert (
            job_of(grants=(Grant("n", (0,), (1, 2)),), around=around).ranks[0].variables["CUDA_VISIBLE_DEVICES"]
            == "1,2"
        )


class TestJobFile:
    def test_comes_back_as_it_was_and_is_private(self, job_of, paths):
        node = paths.attempt("r1", 2).node(0)
        job = as_finisher(job_of())
        write_job(node, job)
        assert read_job(node) == job
        assert job.mode == "finish"
        assert stat.S_IMODE(os.stat(node.job).st_mode) == 0o600
        assert os.listdir(node.root) == ["job.json"]

    def test_that_is_missing_or_broken_is_none(self, paths):
        node = paths.attempt("r1", 2).node(0)
        assert read_job(node) is None
        os.makedirs(node.root)
        with open(node.job, "w") as f:
            f.write("{")
        assert read_job(node) is None
