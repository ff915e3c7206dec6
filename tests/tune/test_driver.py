"""The driver over a real record: children in turn, policies, cancel, restarts at any moment, warm starts."""

from __future__ import annotations

import io
import json
import threading

import pytest

from rookery.data.resolve import resolver_of
from rookery.engine.creating import create_run
from rookery.errors import ComputeNotFoundError, RunConfigError, RunNotFoundError
from rookery.spec.logs import TUNE_LOG
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.tune.telling import BEST_METRIC
from rookery.tune.view import show_tuning

BANDIT = {"policy": "bandit", "policy_options": {"slack_factor": 0.1}}


class TestCourse:
    def test_children_are_ordinary_runs_so_many_at_a_time(self, bench):
        bench.submit(max_total_runs=3, max_concurrent_runs=2, arguments=("--epochs", "3"))
        bench.until(lambda: len(bench.children()) == 2)
        first = bench.children()["HD_1_0"]
        assert (first["kind"], first["parent_id"], first["submitted_by"]) == ("script", "HD_1", "ann")
        assert first["spec"]["arguments"][:3] == ["--epochs", "3", "--lr"]
        assert first["params"]["lr"] == first["spec"]["arguments"][3]
        bench.end("HD_1_0")
        bench.until(lambda: len(bench.children()) == 3)
        bench.end("HD_1_1")
        bench.end("HD_1_2")
        bench.until(lambda: bench.status() == "Completed")
        bench.until(lambda: bench.driver.count() == 0)  # a moment after it is stored

    def test_the_best_is_noted_and_the_log_tells_the_story(self, bench):
        bench.submit(max_total_runs=2, max_concurrent_runs=2)
        bench.until(lambda: len(bench.children()) == 2)
        bench.log("HD_1_0", 0.5)
        bench.until(lambda: show_tuning(bench.record, "HD_1")["best"] == "HD_1_0")
        bench.log("HD_1_1", 0.4, 0.9, 0.8)
        bench.until(lambda: show_tuning(bench.record, "HD_1")["best"] == "HD_1_1")
        bench.end("HD_1_0")
        bench.end("HD_1_1")
        bench.until(lambda: bench.status() == "Completed")
        trial = show_tuning(bench.record, "HD_1")["trials"][1]
        assert (trial["best"], trial["best_at"], trial["last"], trial["intervals"], trial["rank"]) == (
            0.9,
            2,
            0.8,
            3,
            1,
        )
        table = bench.record.metrics.get("HD_1", BEST_METRIC)[0]["columns"]
        assert (table["run_id"][-1], table["metric_value"][-1], table["final"][-1]) == ("HD_1_1", 0.9, True)
        log = bench.record.logs.read("HD_1", TUNE_LOG, 0, 100_000)
        assert b"HD_1_1: accuracy 0.9 at interval" in log
        assert b"Completed: 2 completed." in log

    def test_a_policy_stops_a_child_and_says_why(self, bench):
        bench.submit(max_total_runs=2, max_concurrent_runs=2, **BANDIT)
        bench.until(lambda: len(bench.children()) == 2)
        bench.log("HD_1_0", 0.9)
        bench.until(lambda: show_tuning(bench.record, "HD_1")["trials"][0]["intervals"] == 1)
        bench.log("HD_1_1", 0.5)
        bench.until(lambda: bench.children()["HD_1_1"]["status"] == "Canceled")
        bench.end("HD_1_0")
        bench.until(lambda: bench.status() == "Completed")
        trial = show_tuning(bench.record, "HD_1")["trials"][1]
        assert (trial["status"], trial["stopped"][:20]) == ("Canceled", "Bandit at interval 1")

    def test_a_metric_that_nobody_logs_is_a_warning_that_names_what_was_logged(self, bench):
        bench.submit(max_total_runs=1)
        bench.until(lambda: bench.children())
        bench.log("HD_1_0", 0.5, name="acuracy")
        bench.end("HD_1_0")
        bench.until(lambda: bench.status() == "Completed")
        (warning,) = bench.record.runs.get("HD_1")["warnings"]
        assert "without logging the primary metric 'accuracy'. It logged: acuracy. Did you mean 'acuracy'?" in warning
        assert "none has logged the primary metric 'accuracy'" in bench.record.runs.get("HD_1")["reason"]
        assert b"Warning: Child 'HD_1_0'" in bench.record.logs.read("HD_1", TUNE_LOG, 0, 100_000)

    def test_a_metric_that_is_no_number_is_a_warning_too(self, bench):
        bench.submit(max_total_runs=1)
        bench.until(lambda: bench.children())
        bench.log("HD_1_0", "very good")
        bench.end("HD_1_0")
        bench.until(lambda: bench.status() == "Completed")
        (warning,) = bench.record.runs.get("HD_1")["warnings"]
        assert "never as a number" in warning

    def test_arguments_that_are_overridden_are_a_warning(self, bench):
        bench.submit(arguments=("--lr", "3"))
        bench.until(lambda: bench.children())
        assert "the sampled values are used" in bench.record.runs.get("HD_1")["warnings"][0]

    def test_children_that_all_fail_end_it_with_the_first_ones_cause(self, bench):
        bench.submit(max_total_runs=50, max_concurrent_runs=1)
        for number in range(3):
            child = f"HD_1_{number}"
            bench.until(lambda child=child: child in bench.children())
            cause = {"kind": "UserError", "summary": "ValueError: bad", "advice": ["look"], "traceback": "Traceback"}
            bench.record.runs.advance(child, status="Failed", error=cause)
        bench.until(lambda: bench.status() == "Failed")
        error = bench.record.runs.get("HD_1")["error"]
        assert "The first: ValueError: bad" in error["summary"]
        assert error["traceback"] == "Traceback"
        assert len(bench.children()) == 3

    def test_a_target_that_went_away_ends_it(self, bench):
        bench.submit(max_total_runs=50, max_concurrent_runs=1)
        bench.until(lambda: bench.children())

        def refuse(spec):
            raise ComputeNotFoundError("Compute 'gone' does not exist.")

        bench.controller.check = refuse
        bench.end("HD_1_0")
        bench.until(lambda: bench.status() == "Failed")
        assert "Compute 'gone' does not exist." in bench.record.runs.get("HD_1")["error"]["summary"]

    def test_a_childs_id_that_somebody_else_has_taken_ends_it(self, bench):
        taken = RunSpec("HD_1_0", "birds", script="other.py", environment=EnvironmentSpec(python="python"))
        create_run(bench.record, bench.controller, taken, "bob")
        bench.submit(max_total_runs=2)
        bench.until(lambda: bench.status() == "Failed")
        assert "exists already with another specification" in bench.record.runs.get("HD_1")["error"]["summary"]

    def test_the_time_limit_cancels_what_runs_and_completes(self, bench):
        bench.submit(max_total_runs=50, max_concurrent_runs=2, max_duration_minutes=0.005)
        bench.until(lambda: bench.status() == "Completed")
        assert {run["status"] for run in bench.children().values()} <= {"Canceled"}
        assert "max_duration_minutes=0.005 is over" in bench.record.runs.get("HD_1")["warnings"][0]

    def test_a_grid_ends_when_it_has_no_more(self, bench):
        bench.submit(sampler="grid", space={"a": ["choice", [[1, 2]]], "b": ["choice", [["x"]]]}, max_total_runs=9)
        bench.until(lambda: len(bench.children()) == 2)
        bench.end("HD_1_0")
        bench.end("HD_1_1")
        bench.until(lambda: bench.status() == "Completed")
        assert [t["parameters"] for t in show_tuning(bench.record, "HD_1")["trials"]] == [
            {"a": 1, "b": "x"},
            {"a": 2, "b": "x"},
        ]


class TestCancel:
    def test_children_end_first(self, bench):
        bench.submit(max_total_runs=50, max_concurrent_runs=3)
        bench.until(lambda: len(bench.children()) == 3)
        bench.controller.cancel("HD_1")
        bench.until(lambda: bench.status() == "Canceled")
        assert {run["status"] for run in bench.children().values()} == {"Canceled"}
        bench.controller.cancel("HD_1")  # harmless

    def test_before_it_has_begun(self, bench):
        bench.submit(max_total_runs=1)
        bench.controller.cancel("HD_1")
        bench.until(lambda: bench.status() == "Canceled")

    def test_a_wish_survives_a_restart(self, bench):
        bench.submit(max_total_runs=50, max_concurrent_runs=3)
        bench.until(lambda: len(bench.children()) == 3)
        bench.driver.cancel("HD_1")
        bench.restart()
        bench.until(lambda: bench.status() == "Canceled")
        assert not bench.live()


class TestRestart:
    def test_carries_on_with_the_same_values_and_no_child_twice(self, bench):
        bench.submit("HD_1", max_total_runs=6, max_concurrent_runs=2)
        for number in range(6):
            child = f"HD_1_{number}"
            bench.until(lambda child=child: child in bench.children())
            bench.log(child, number / 10)
            if number % 2:
                bench.restart()
            bench.end(child)
        bench.until(lambda: bench.status() == "Completed")
        assert len(bench.children()) == 6
        first = [t["parameters"] for t in show_tuning(bench.record, "HD_1")["trials"]]
        bench.submit("HD_2", max_total_runs=6, max_concurrent_runs=6)
        bench.until(lambda: len(bench.children("HD_2")) == 6)
        assert [t["parameters"] for t in show_tuning(bench.record, "HD_2")["trials"]] == first
        assert show_tuning(bench.record, "HD_1")["best"] == "HD_1_5"

    @pytest.mark.parametrize("at", ["trials.store", "runs.create", "trials.note_values", "logs.append"])
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_killed_between_two_steps(self, bench, monkeypatch, at, count):
        """What was under way when it was killed is done by the next one, once."""
        part, name = at.split(".")
        place = getattr(bench.record, part)
        real, calls = getattr(place, name), []

        def dies_after(*args, **kwargs):
            done = real(*args, **kwargs)
            if threading.current_thread().name == "rookery-tune":
                calls.append(1)
                if len(calls) >= count:
                    raise _KilledError
            return done

        monkeypatch.setattr(threading, "excepthook", lambda args: None)
        setattr(place, name, dies_after)
        bench.submit(max_total_runs=3, max_concurrent_runs=3)
        bench.until(lambda: len(calls) >= count or len(bench.children()) == 3)
        bench.restart()
        bench.until(lambda: len(bench.children()) == 3)
        for child in bench.live():
            bench.end(child)
        bench.until(lambda: bench.status() == "Completed")
        assert len(bench.record.runs.children("HD_1")) == 3

    def test_what_a_policy_had_stopped_is_stopped(self, bench):
        bench.submit(max_total_runs=2, max_concurrent_runs=2, **BANDIT)
        bench.until(lambda: len(bench.children()) == 2)
        bench.log("HD_1_0", 0.9)
        bench.until(lambda: show_tuning(bench.record, "HD_1")["trials"][0]["intervals"] == 1)
        bench.controller.cancel = lambda run_id: None  # as if killed before it was done
        bench.log("HD_1_1", 0.5)
        bench.until(lambda: show_tuning(bench.record, "HD_1")["trials"][1]["stopped"])
        bench.restart()
        bench.until(lambda: bench.children()["HD_1_1"]["status"] == "Canceled")

    def test_a_plan_that_cannot_be_read_fails_and_harms_nobody(self, bench):
        bench.submit("HD_1", max_total_runs=1)
        bench.until(lambda: bench.children("HD_1"))
        bench.driver.stop()
        with bench.record.database.write() as tx:
            tx.conn.exec_driver_sql("UPDATE runs SET spec = replace(spec, 'maximize', 'sideways') WHERE id = 'HD_1'")
        bench.restart()
        bench.until(lambda: bench.status("HD_1") == "Failed")
        bench.submit("HD_2", max_total_runs=1)
        bench.until(lambda: bench.children("HD_2"))


class _KilledError(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


def complete(bench, run_id, results):
    bench.until(lambda: len(bench.children(run_id)) == len(results))
    for number, value in enumerate(results):
        bench.log(f"{run_id}_{number}", value)
        bench.end(f"{run_id}_{number}")
    bench.until(lambda: bench.status(run_id) == "Completed")


class TestWarmStart:
    def test_children_of_an_earlier_tuning_count_for_policies(self, bench):
        bench.submit("HD_1", max_total_runs=2)
        complete(bench, "HD_1", [0.9, 0.8])
        bench.submit("HD_2", max_total_runs=1, resume_from=("HD_1",), **BANDIT)
        bench.until(lambda: bench.children("HD_2"))
        bench.log("HD_2_0", 0.5)
        bench.until(lambda: bench.children("HD_2")["HD_2_0"]["status"] == "Canceled")

    def test_earlier_children_are_run_again_first_with_what_they_left(self, bench):
        bench.submit("HD_1", max_total_runs=2)
        bench.until(lambda: len(bench.children("HD_1")) == 2)
        stored = bench.record.content.put(io.BytesIO(b"weights"))[0]
        bench.record.artifacts.link("HD_1_1", "outputs/model.pt", stored)
        complete(bench, "HD_1", [0.9, 0.8])
        bench.submit("HD_2", max_total_runs=3, resume_children=("HD_1_1",))
        bench.until(lambda: len(bench.children("HD_2")) == 3)
        earlier = show_tuning(bench.record, "HD_1")["trials"][1]["parameters"]
        trials = show_tuning(bench.record, "HD_2")["trials"]
        assert (trials[0]["parameters"], trials[0]["resumed_from"]) == (earlier, "HD_1_1")
        spec = bench.children("HD_2")["HD_2_0"]["spec"]
        assert spec["arguments"][-2:] == ["--resume-from", "$ROOKERY_INPUT_RESUME_FROM"]
        assert spec["inputs"][0]["name"] == "RESUME_FROM"
        store = resolver_of(bench.record).store(bench.record.datastores.default())
        with store.open("azureml/HD_1_1/outputs/model.pt") as f:
            assert f.read() == b"weights"
        # The next ones are those that the sampler begins with.
        assert trials[1]["parameters"] == show_tuning(bench.record, "HD_1")["trials"][0]["parameters"]

    @pytest.mark.parametrize(
        ("fields", "words", "kind"),
        [
            ({"resume_from": ("nobody",)}, "does not exist", RunNotFoundError),
            ({"resume_from": ("HD_1",), "metric": "loss"}, "Only tunings for the same metric", RunConfigError),
            ({"resume_from": ("HD_1_0",)}, "is no tuning", RunConfigError),
            ({"resume_from": ("HD_1",), "max_total_runs": 1000}, "1000 are allowed", RunConfigError),
            ({"resume_children": ("HD_1",)}, "is no child of a tuning", RunConfigError),
        ],
    )
    def test_what_cannot_be_gone_on_with_is_refused(self, bench, fields, words, kind):
        bench.submit("HD_1", max_total_runs=1)
        complete(bench, "HD_1", [0.9])
        with pytest.raises(kind, match=words):
            bench.submit("HD_2", **fields)

    def test_one_that_still_runs_is_refused(self, bench):
        bench.submit("HD_1", max_total_runs=1)
        with pytest.raises(RunConfigError, match="Only what has ended"):
            bench.submit("HD_2", resume_from=("HD_1",))


class TestCheck:
    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"max_total_runs": 0}, "from 1 to 1000"),
            ({"max_concurrent_runs": 101}, "from 1 to 100"),
            ({"max_duration_minutes": 0.0}, "above 0"),
            ({"goal": "best"}, "Known: maximize, minimize"),
            ({"policy": "bandit"}, "either slack_factor or slack_amount"),
            ({"policy": "median", "policy_options": {"slack": 1}}, "has no option 'slack'"),
            ({"policy": "truncation", "policy_options": {"truncation_percentage": 100}}, "from 1 to 99"),
            ({"sampler": "bayesian", **BANDIT}, "no early termination"),
            ({"metric": ""}, "primary_metric_name is empty"),
            ({"script": None}, "either a script"),
        ],
    )
    def test_is_refused_before_anything_is_stored(self, bench, fields, words):
        with pytest.raises(RunConfigError, match=words):
            bench.submit(**fields)
        assert bench.record.runs.find("HD_1") is None

    def test_what_is_shown_is_strict_json(self, bench):
        bench.submit(max_total_runs=1)
        bench.until(lambda: bench.children())
        bench.log("HD_1_0", float("nan"))
        bench.until(lambda: show_tuning(bench.record, "HD_1")["trials"][0]["intervals"] == 1)
        json.dumps(show_tuning(bench.record, "HD_1"), allow_nan=False)
