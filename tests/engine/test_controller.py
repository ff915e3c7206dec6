"""The controller over a real record: what agents say becomes what the record shows, and is stored when they
are answered."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import pytest

from rookery.errors import (
    ComputeError,
    ComputeNotFoundError,
    ConflictError,
    KeeperUnavailableError,
    RunNotFoundError,
    UserError,
)
from rookery.spec.cause import CauseKind
from rookery.spec.compute import ClusterSpec
from rookery.spec.run import EnvironmentSpec, RunSpec, WatchedProcess
from rookery.testing.engine_exam import wait_for


class TestARun:
    def test_goes_from_submit_to_completed(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        assert house.status(run_id) == "Running"
        house.controller.agent_outcome(run_id, 1, 0, {"result": "completed"})
        assert house.status(run_id) == "Finalizing"
        assert house.controller.nodes("local")[0]["state"] == "idle"
        house.controller.agent_finished(run_id, 1, 0, {"warnings": ["one file was left out"]})
        run = house.record.runs.get(run_id)
        assert (run["status"], run["warnings"]) == ("Completed", ["one file was left out"])
        assert [p["status"] for p in run["phases"]] == [
            "NotStarted",
            "Starting",
            "Queued",
            "Provisioning",
            "Running",
            "Finalizing",
            "Completed",
        ]
        assert house.controller.counts() == {"live_runs": 0, "queued_runs": 0, "running_runs": 0}

    @pytest.mark.parametrize("part", ["sweep", "adopt", "place"])
    def test_an_action_that_fails_is_done_later_and_stops_no_other(self, house, monkeypatch, part):
        run_id = house.submit()
        place = house.start_ranks(run_id)
        real, failures = getattr(house.engine, part), []

        def fail_once(*given):
            if not failures:
                failures.append(1)
                raise OSError("no processes left")
            return real(*given)

        monkeypatch.setattr(house.engine, part, fail_once)
        house.engine.die(place, signal="SIGKILL")
        house.wait_placed(run_id, times=2)  # what stores what it left
        house.controller.agent_finished(run_id, 1, 0, {"warnings": []})
        assert (house.wait(run_id, "Failed")["error"]["kind"], failures) == ("NodeLost", [1])
        assert house.controller.nodes("local")[0]["state"] == "idle"

    def test_keeps_the_cause_of_a_failure(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        house.finish(
            run_id,
            "failed",
            cause={"kind": "UserError", "summary": "ValueError: no", "exception": "ValueError: no"},
        )
        run = house.record.runs.get(run_id)
        assert (run["status"], run["error"]["summary"]) == ("Failed", "ValueError: no")

    def test_shows_what_the_script_said_when_the_agent_knows_no_more_than_an_exit_code(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        house.record.runs.set_error(run_id, {"kind": "UserError", "summary": "the data is empty"})
        house.finish(run_id, "failed", cause={"kind": "UserError", "summary": "exit code 1", "exit_code": 1})
        error = house.record.runs.get(run_id)["error"]
        assert (error["summary"], error["exit_code"]) == ("the data is empty", 1)

    def test_is_taken_up_once_however_often_it_is_told(self, house):
        run_id = house.submit()
        house.wait_placed(run_id)
        house.controller.submitted(run_id)
        house.start_ranks(run_id)
        assert len(house.engine.placed) == 1

    def test_that_does_not_exist_is_not_found(self, house):
        for call in (
            house.controller.submitted,
            house.controller.cancel,
            lambda r: house.controller.agent_hello(r, 1, 0, {}),
        ):
            with pytest.raises(RunNotFoundError):
                call("nobody")

    def test_refuses_agents_of_an_attempt_that_is_over(self, house):
        run_id = house.submit(retries_user_error=1)
        house.start_ranks(run_id)
        house.finish(run_id, "failed")
        house.wait_placed(run_id, times=2)
        for call in (
            house.controller.agent_hello,
            house.controller.agent_running,
            house.controller.agent_beat,
            house.controller.agent_finished,
        ):
            with pytest.raises(ConflictError):
                call(run_id, 1, 0, {})
        with pytest.raises(ConflictError):
            house.controller.commands(run_id, 1, 0, 0)
        house.start_ranks(run_id, attempt=2)
        house.finish(run_id, attempt=2)
        run = house.record.runs.get(run_id)
        assert (run["status"], run["attempt"]) == ("Completed", 2)
        with pytest.raises(ConflictError):
            house.controller.agent_finished(run_id, 2, 0, {})

    def test_refuses_an_outcome_that_is_none(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        with pytest.raises(UserError, match="completed, failed"):
            house.controller.agent_outcome(run_id, 1, 0, {"result": "fine"})

    def test_whose_agents_cannot_be_started_fails_with_the_reason(self, house):
        house.engine.broken = "no processes left"
        run = house.wait(house.submit(), "Failed")
        assert run["error"]["kind"] == CauseKind.SYSTEM_ERROR
        assert "no processes left" in run["error"]["summary"]
        # The end is stored before anything is done about it.
        wait_for(lambda: house.controller.nodes("local")[0]["state"] == "idle", "that its node is free")

    def test_with_an_interpreter_that_is_not_there_fails_and_names_it(self, house):
        run = house.wait(
            house.submit(environment=EnvironmentSpec(user_managed=True, python="/no/such/python")), "Failed"
        )
        assert run["error"]["kind"] == CauseKind.ENVIRONMENT
        assert "/no/such/python" in run["error"]["summary"]

    def test_has_a_job_on_disk_for_its_agent(self, house):
        run_id = house.submit(arguments=("--lr", "$LR"), variables={"LR": "0.1"}, max_duration_s=60)
        job = json.loads(Path(house.wait_placed(run_id).paths.job).read_text())
        (rank,) = job["ranks"]
        assert rank["argv"] == [sys.executable, "train.py", "--lr", "$LR"]
        assert rank["variables"]["LR"] == "0.1"
        assert (job["mode"], job["max_duration_s"]) == ("run", 60)
        assert job["token"].startswith("rkr_")
        assert rank["variables"]["AZUREML_ARM_WORKSPACE_NAME"] == "nest"


class TestCancel:
    def test_while_it_waits_ends_it_at_once(self, make_house):
        house = make_house(cpus=1)
        first, second = house.submit(), house.submit()
        house.start_ranks(first)
        house.wait(second, "Queued")
        house.controller.cancel(second)
        assert house.status(second) == "Canceled"
        house.controller.cancel(second)

    def test_while_it_runs_rings_its_agent(self, house):
        run_id = house.submit(cancel_grace_s=3.0)
        house.start_ranks(run_id)
        rung = threading.Event()
        house.record.bell.subscribe(f"commands/{run_id}/1/0", rung.set)
        assert house.controller.commands(run_id, 1, 0, 0) == []
        house.controller.cancel(run_id)
        assert rung.is_set()
        assert house.status(run_id) == "CancelRequested"
        assert house.controller.commands(run_id, 1, 0, 0) == [{"n": 2, "command": "cancel", "grace_s": 3.0}]
        assert house.controller.commands(run_id, 1, 0, 2) == []
        assert house.controller.agent_beat(run_id, 1, 0, {})["cancel"] is True
        house.finish(run_id, "canceled")
        assert house.status(run_id) == "Canceled"

    def test_kills_an_agent_that_does_not_stop(self, house, monkeypatch):
        monkeypatch.setattr("rookery.engine.performer.CANCEL_SLACK_S", 0.1)
        run_id = house.submit(cancel_grace_s=0.0)
        place = house.start_ranks(run_id)
        house.controller.cancel(run_id)
        wait_for(lambda: house.engine.killed == [place], "the kill")
        house.wait_placed(run_id, times=2)
        assert house.engine.swept == [place]
        house.finish(run_id, "lost")
        assert house.status(run_id) == "Canceled"

    def test_before_an_agent_is_up_is_what_its_hello_hears(self, house):
        run_id = house.submit()
        house.wait_placed(run_id)
        house.controller.cancel(run_id)
        assert house.controller.agent_hello(run_id, 1, 0, {}) == {"cancel": True}
        assert house.status(run_id) == "CancelRequested"


class TestLostAgents:
    def test_a_finisher_ships_and_the_run_fails_in_words(self, house):
        run_id = house.submit()
        place = house.start_ranks(run_id)
        house.engine.die(place, signal="SIGKILL")
        house.wait_placed(run_id, times=2)
        assert json.loads(Path(place.paths.job).read_text())["mode"] == "finish"
        assert house.engine.swept == [place]
        house.finish(run_id, "lost")
        error = house.record.runs.get(run_id)["error"]
        assert (error["kind"], error["signal"], error["node"]) == (CauseKind.LOST_NODE, "SIGKILL", 0)
        assert "killed by SIGKILL" in error["summary"]
        assert error["advice"]

    def test_an_outcome_on_disk_decides(self, house):
        run_id = house.submit()
        place = house.start_ranks(run_id)
        with open(place.paths.outcome, "w") as f:
            json.dump({"result": "completed", "ranks": []}, f)
        house.engine.die(place, exit_code=1)
        house.wait_placed(run_id, times=2)
        house.controller.agent_finished(run_id, 1, 0, {})
        assert house.status(run_id) == "Completed"

    def test_finishers_that_keep_dying_do_not_hold_the_run(self, house):
        run_id = house.submit()
        place = house.start_ranks(run_id)
        house.controller.agent_outcome(run_id, 1, 0, {"result": "completed"})
        for times in range(2, 5):
            house.engine.die(place, exit_code=1)
            house.wait_placed(run_id, times=times)
        house.engine.die(place, exit_code=1)
        run = house.wait(run_id, "Completed")
        assert "may be missing" in run["warnings"][0]


class TestBusy:
    def test_a_beat_says_what_an_agent_is_about(self, house):
        run_id = house.submit()
        house.wait_placed(run_id)
        house.controller.agent_beat(run_id, 1, 0, {"doing": "fetching input 'a': 3.0 of 10.0 GB"})
        wait_for(lambda: house.reason(run_id) == "fetching input 'a': 3.0 of 10.0 GB", "its reason")
        house.start_ranks(run_id)
        house.finish(run_id)


class TestSilence:
    def test_is_shown_and_taken_back(self, make_house, monkeypatch):
        monkeypatch.setenv("ROOKERY_HEARTBEAT_S", "0.05")
        monkeypatch.setenv("ROOKERY_MISSED_HEARTBEATS", "3")
        house = make_house()
        run_id = house.submit()
        house.start_ranks(run_id)
        run = house.wait(run_id, "NotResponding")
        assert "missed_heartbeats=3" in run["reason"]
        house.controller.agent_beat(run_id, 1, 0, {"samples": [], "state": "running"})
        assert [p["status"] for p in house.record.runs.get(run_id)["phases"]].count("Running") >= 2
        house.finish(run_id)


class TestOtherKinds:
    def test_an_interactive_run_runs_at_once_without_a_slot(self, make_house):
        house = make_house(cpus=1)
        house.start_ranks(house.submit())
        run_id = house.submit(
            kind="interactive",
            script=None,
            watched=WatchedProcess(1, 1, "here"),
            environment=EnvironmentSpec(),
        )
        house.wait(run_id, "Running")
        place = house.wait_placed(run_id)
        assert json.loads(Path(place.paths.job).read_text())["mode"] == "watch"
        house.finish(run_id, "completed")
        assert house.status(run_id) == "Completed"

    def test_its_status_can_be_said_from_outside(self, house):
        run_id = house.submit(
            kind="interactive",
            script=None,
            watched=WatchedProcess(1, 1, "here"),
            environment=EnvironmentSpec(),
        )
        house.wait_placed(run_id)
        house.controller.report_status(run_id, "Completed", None)
        assert house.status(run_id) == "Finalizing"
        house.finish(run_id, "canceled")
        assert house.status(run_id) == "Completed"

    def test_a_child_is_what_it_says_and_ends_with_its_parent(self, house):
        parent = house.submit()
        house.start_ranks(parent)
        said, left = (
            house.submit(kind="child", parent_id=parent, script=None, environment=EnvironmentSpec()) for _ in range(2)
        )
        house.controller.report_status(said, "Failed", {"kind": "UserError", "summary": "said so"})
        assert house.record.runs.get(said)["error"]["summary"] == "said so"
        with pytest.raises(ConflictError):
            house.controller.report_status(said, "Completed", None)
        house.finish(parent)
        assert house.status(left) == "Completed"
        house.controller.cancel(left)

    def test_a_child_can_be_canceled(self, house):
        parent = house.submit()
        house.start_ranks(parent)
        child = house.submit(kind="child", parent_id=parent, script=None, environment=EnvironmentSpec())
        house.controller.cancel(child)
        assert house.status(child) == "Canceled"

    def test_a_submitted_run_is_not_to_be_told_its_status(self, house):
        run_id = house.submit()
        with pytest.raises(ConflictError, match="its agent"):
            house.controller.report_status(run_id, "Completed", None)
        with pytest.raises(UserError, match="Allowed"):
            house.controller.report_status(run_id, "Done", None)


class TestCheck:
    def spec(self, **fields):
        return RunSpec(
            **{
                "run_id": "r",
                "experiment": "e",
                "script": "s.py",
                "environment": EnvironmentSpec(python="p"),
                **fields,
            }
        )

    def test_an_unknown_target_lists_the_known_ones(self, house):
        with pytest.raises(
            ComputeNotFoundError, match=r"'gpu4' does not exist. Known: local. .*rookery compute create"
        ):
            house.controller.check(self.spec(compute="gpu4"))

    def test_too_many_nodes_say_what_would_fit(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        with pytest.raises(
            ComputeError,
            match=r"requested 3 nodes but cluster 'pool' has 2 maximum nodes.*node_count=2 or less",
        ):
            house.controller.check(self.spec(compute="pool", node_count=3))

    def test_a_target_without_nodes_can_hold_nothing(self, house):
        house.controller.create_compute("empty", ClusterSpec(max_nodes=0))
        with pytest.raises(ComputeError, match=r"requested 1 nodes but cluster 'empty' has 0 maximum nodes.*raise it"):
            house.controller.check(self.spec(compute="empty"))

    def test_what_can_run_passes(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        for fields in ({"launcher": "mpi"}, {"compute": "pool", "node_count": 2}):
            house.controller.check(self.spec(**fields))
        house.controller.check(self.spec(environment=EnvironmentSpec(python="p", user_managed=True, conda={"x": 1})))


class TestStopping:
    def test_answers_nobody_any_more(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        house.controller.stop()
        with pytest.raises(KeeperUnavailableError):
            house.controller.agent_outcome(run_id, 1, 0, {"result": "completed"})
        assert house.status(run_id) == "Running"
