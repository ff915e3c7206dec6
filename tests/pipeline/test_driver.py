"""The driver over a real record: order, reuse, failures, cancel, retry, and restarts at any moment."""

from __future__ import annotations

import copy
import threading

import pytest

from rookery.errors import ConflictError, UserError
from rookery.pipeline import making
from rookery.pipeline.view import show_run
from rookery.spec.logs import PIPELINE_LOG

from .conftest import graph, step


class TestCourse:
    def test_steps_are_ordinary_runs_below_the_pipelines(self, bench, diamond):
        run = bench.submit(diamond, tags={"why": "test"})
        first = bench.record.runs.get(bench.finish(run, "a"))
        assert (first["kind"], first["parent_id"], first["submitted_by"]) == ("script", run, "ann")
        assert first["properties"]["rookery.run_type"] == "azureml.StepRun"
        assert first["properties"]["azureml.nodeid"] == "a"
        for node in ("b", "c", "d"):
            bench.finish(run, node)
        steps = bench.ended(run)
        assert [s["status"] for s in steps.values()] == ["Completed"] * 4
        bench.until(lambda: bench.driver.count() == 0)  # a moment after it is stored

    def test_what_is_free_runs_side_by_side_and_the_rest_waits(self, bench, diamond):
        run = bench.submit(diamond)
        bench.finish(run, "a")
        bench.started(run, "b")
        bench.started(run, "c")
        assert bench.phase(run, "d") == "waiting"
        bench.finish(run, "b")
        assert bench.phase(run, "d") == "waiting"
        bench.finish(run, "c")
        bench.started(run, "d")

    def test_what_one_step_wrote_is_what_the_next_is_given(self, bench):
        run = bench.submit(graph(a=step(), b=step("a")))
        a = bench.finish(run, "a")
        b = bench.record.runs.get(bench.started(run, "b"))
        made = bench.record.run_data.of_run(a, "out")[0]
        assert b["spec"]["inputs"][0]["definition_id"] == made["definition_id"]
        assert b["spec"]["outputs"][0]["path"] == "azureml/{run-id}/{output-name}"
        assert bench.steps(run)["a"]["outputs"]["out"]["path"] == f"azureml/{a}/out"

    def test_order_without_data(self, bench):
        flow = graph(a=step(), b=step())
        flow["after"] = [["a", "b"]]
        run = bench.submit(flow)
        bench.started(run, "a")
        assert bench.phase(run, "b") == "waiting"
        bench.finish(run, "a")
        bench.started(run, "b")

    def test_parameters_of_the_pipeline_are_filled_in(self, bench):
        flow = graph(a=step(arguments=["--rate", {"pipeline_parameter": "rate"}]))
        del flow["nodes"]["a"]["run"]["command"]
        flow["nodes"]["a"]["run"]["script"] = "train.py"
        flow["parameters"] = {"rate": {"type": "number", "default": 0.5}}
        run = bench.submit(flow, parameters={"rate": "0.25"})
        made = bench.record.runs.get(bench.started(run, "a"))["spec"]
        assert made["arguments"] == ["--rate", "0.25"]
        assert made["variables"]["AZUREML_PARAMETER_rate"] == "0.25"

    def test_the_log_tells_the_story(self, bench):
        run = bench.submit(graph(a=step()))
        bench.finish(run, "a")
        bench.ended(run)
        text = bench.record.logs.read(run, PIPELINE_LOG).decode()
        assert "not reused: it never ran before" in text
        assert "the pipeline is Completed" in text

    def test_a_graph_with_problems_is_refused_with_all_of_them(self, bench):
        flow = graph(a=step("nowhere"), b={"kind": "odd"})
        with pytest.raises(UserError) as refused:
            bench.submit(flow)
        assert {p["code"] for p in refused.value.details["problems"]} >= {"unknown_source", "unknown_kind"}
        assert bench.driver.count() == 0

    def test_the_same_submit_again_is_the_same_run(self, bench, diamond):
        first = bench.submit(diamond, run_id="flow-1")
        assert bench.submit(diamond, run_id="flow-1") == first
        bench.started(first, "a")
        assert len(bench.record.runs.children(first)) == 1


class TestReuse:
    def run_all(self, bench, flow, content="x", **options):
        run = bench.submit(flow, **options)
        for node in flow["nodes"]:
            if flow["nodes"][node]["kind"] == "script":
                bench.until(lambda node=node: bench.phase(run, node) in ("running", "completed"))
                if bench.phase(run, node) == "running":
                    bench.finish(run, node, content)
        return bench.ended(run), run

    def test_the_second_time_nothing_is_run(self, bench, diamond):
        first, _ = self.run_all(bench, diamond)
        again = bench.submit(diamond)
        steps = bench.ended(again)
        assert {n: s["reused_from"] for n, s in steps.items()} == {n: s["run_id"] for n, s in first.items()}
        assert all(s["reuse"].startswith("reused from run") for s in steps.values())
        assert steps["d"]["outputs"] == first["d"]["outputs"]
        runs = bench.record.runs.children(again)
        assert all(r["properties"]["rookery.run_type"] == "azureml.ReusedStepRun" for r in runs)
        assert {r["status"] for r in runs} == {"Completed"}

    def test_only_what_a_change_reaches_is_run_again(self, bench, diamond):
        self.run_all(bench, diamond)
        changed = copy.deepcopy(diamond)
        changed["nodes"]["b"]["run"]["variables"]["build_id"] = "8"
        run = bench.submit(changed)
        bench.finish(run, "b", "y")
        bench.finish(run, "d")
        steps = bench.ended(run)
        assert [n for n, s in steps.items() if s["reused_from"]] == ["a", "c"]
        assert steps["b"]["reuse"] == "not reused: variable build_id is given now ('8')"
        assert steps["d"]["reuse"] == "not reused: input from_b holds something else"

    @pytest.mark.parametrize("name", ["autumn (copy)", "renamed by hand"])
    def test_a_clone_under_another_name_is_told_against_what_it_is_of(self, bench, name):
        first = graph(a=step())
        _, run = self.run_all(bench, first)
        cloned = {**copy.deepcopy(first), "name": name}
        cloned["nodes"]["a"]["run"]["variables"]["season"] = "autumn"
        draft = bench.record.drafts.create(cloned, name, "ann", {"parent_run_id": run})["id"]
        second = bench.submit(cloned, draft_id=draft)
        bench.finish(second, "a")
        assert bench.ended(second)["a"]["reuse"] == "not reused: variable season is given now ('autumn')"
        # The draft's own last run counts more than what it once was a clone of, also when it has a new name again.
        again = {**copy.deepcopy(cloned), "name": "winter"}
        again["nodes"]["a"]["run"]["variables"]["season"] = "winter"
        third = bench.submit(again, draft_id=draft)
        bench.finish(third, "a")
        assert bench.ended(third)["a"]["reuse"] == "not reused: variable season was 'autumn', is 'winter'"

    def test_the_same_content_from_another_run_is_the_same_input(self, bench, diamond):
        self.run_all(bench, diamond)
        changed = copy.deepcopy(diamond)
        changed["nodes"]["a"]["run"]["variables"]["seed"] = "1"
        run = bench.submit(changed)
        bench.finish(run, "a", "x")  # another run, and the same bytes
        steps = bench.ended(run)
        assert [n for n, s in steps.items() if s["reused_from"]] == ["b", "c", "d"]

    def test_regenerate_runs_everything_or_one_step(self, bench, diamond):
        self.run_all(bench, diamond)
        steps, _ = self.run_all(bench, diamond, regenerate=True)
        assert {s["reuse"] for s in steps.values()} == {"not reused: regenerate is set"}
        once = copy.deepcopy(diamond)
        once["nodes"]["c"]["regenerate"] = True
        run = bench.submit(once)
        bench.finish(run, "c")
        assert [n for n, s in bench.ended(run).items() if not s["reused_from"]] == ["c"]

    def test_what_is_gone_from_the_datastore_is_made_again(self, bench):
        flow = graph(a=step())
        steps, _ = self.run_all(bench, flow)
        made = steps["a"]["outputs"]["out"]
        resolver_store(bench, made).remove(made["path"] + "/file.txt")
        run = bench.submit(flow)
        bench.finish(run, "a")
        assert bench.ended(run)["a"]["reuse"].endswith("but its output out is no longer there")

    def test_what_was_changed_on_the_datastore_is_made_again(self, bench):
        flow = graph(a=step())
        steps, _ = self.run_all(bench, flow)
        made = steps["a"]["outputs"]["out"]
        with resolver_store(bench, made).writer(made["path"] + "/file.txt") as writer:
            writer.write(b"by hand")
            writer.commit()
        run = bench.submit(flow)
        bench.finish(run, "a")
        assert bench.ended(run)["a"]["reuse"].endswith("but its output out was changed since")

    def test_a_failure_is_not_reused(self, bench):
        flow = graph(a=step())
        run = bench.submit(flow)
        failed = bench.finish(run, "a", status="Failed")
        bench.ended(run, "Failed")
        again = bench.submit(flow)
        bench.finish(again, "a")
        assert bench.ended(again)["a"]["reuse"] == f"not reused: run {failed} did the same, and did not complete"

    def test_two_pipelines_want_the_same_step_and_one_does_it(self, bench):
        one, two = bench.submit(graph(a=step())), bench.submit(graph("other", a=step(), b=step("a")))
        bench.until(lambda: {bench.phase(one, "a"), bench.phase(two, "a")} == {"running", "held"})
        worker, waiter = (one, two) if bench.phase(one, "a") == "running" else (two, one)
        assert bench.steps(waiter)["a"]["reason"].startswith(f"waits for the same step of run {worker}")
        done = bench.finish(worker, "a")
        bench.until(lambda: bench.phase(waiter, "a") == "completed")
        assert bench.steps(waiter)["a"]["reused_from"] == done
        bench.finish(two, "b")
        bench.ended(one)
        bench.ended(two)

    def test_when_the_first_fails_the_second_does_it_itself(self, bench):
        one, two = bench.submit(graph(a=step())), bench.submit(graph("other", a=step()))
        bench.until(lambda: {bench.phase(one, "a"), bench.phase(two, "a")} == {"running", "held"})
        worker, waiter = (one, two) if bench.phase(one, "a") == "running" else (two, one)
        bench.finish(worker, "a", status="Failed")
        bench.finish(waiter, "a")
        assert bench.ended(waiter)["a"]["reused_from"] is None


class TestFailures:
    def test_what_needs_a_failed_step_is_not_run(self, bench, diamond):
        run = bench.submit(diamond)
        bench.finish(run, "a")
        bench.started(run, "c")
        bench.finish(run, "b", status="Failed")
        bench.finish(run, "c")  # what runs goes on: its work may be reused
        steps = bench.ended(run, "Failed")
        assert {n: s["phase"] for n, s in steps.items()} == {
            "a": "completed",
            "b": "failed",
            "c": "completed",
            "d": "skipped",
        }
        assert steps["d"]["reason"] == "not run: 'b' failed"
        assert bench.record.runs.get(run)["error"]["summary"] == "Step 'b' failed: it broke"

    def test_without_continue_nothing_new_is_started(self, bench):
        flow = graph(a=step(), b=step(), c=step("b"))
        run = bench.submit(flow)
        bench.started(run, "b")
        bench.finish(run, "a", status="Failed")
        bench.until(lambda: bench.phase(run, "c") == "skipped")
        bench.finish(run, "b")
        assert "does not continue on failure" in bench.ended(run, "Failed")["c"]["reason"]

    @pytest.mark.parametrize("how", ["pipeline", "node"])
    def test_with_continue_the_rest_goes_on(self, bench, how):
        flow = graph(a=step(), b=step(), c=step("b"), d=step("a"))
        flow["nodes"]["a"]["continue_on_failure"] = how == "node"
        run = bench.submit(flow, continue_on_failure=how == "pipeline")
        bench.finish(run, "a", status="Failed")
        bench.finish(run, "b")
        bench.finish(run, "c")
        steps = bench.ended(run, "Failed")
        assert (steps["c"]["phase"], steps["d"]["phase"]) == ("completed", "skipped")

    def test_a_step_that_cannot_be_made_fails_with_the_reason(self, bench):
        flow = graph(a=step(outputs=("out", "empty")), b=step())
        flow["nodes"]["b"]["inputs"] = {"x": {"node": "a", "port": "empty"}}
        run = bench.submit(flow)
        a = bench.started(run, "a")
        bench.record.runs.advance(a, status="Completed")  # as an agent whose script wrote nothing
        steps = bench.ended(run, "Failed")
        assert "'empty' of 'a' was not kept" in steps["b"]["reason"]
        assert steps["b"]["cause"]["summary"] == steps["b"]["reason"]

    def test_a_step_is_tried_again_and_what_waited_for_it_follows(self, bench, diamond):
        run = bench.submit(diamond)
        bench.finish(run, "a")
        failed = bench.finish(run, "b", status="Failed")
        bench.finish(run, "c")
        bench.ended(run, "Failed")
        with pytest.raises(ConflictError, match="completed"):
            bench.driver.retry(run, "a")
        bench.driver.retry(run, "b")
        again = bench.finish(run, "b")
        bench.finish(run, "d")
        steps = bench.ended(run)
        assert again != failed
        assert steps["b"]["tries"] == 2
        assert len(bench.record.runs.children(run)) == 5

    def test_tried_again_while_another_step_is_being_prepared_each_is_run_once(self, bench, monkeypatch):
        go, real, asked = threading.Event(), making.prepare, []

        def slow(record, run, graph, node, *rest):
            asked.append(node)
            if node == "c":
                assert go.wait(60)
            return real(record, run, graph, node, *rest)

        monkeypatch.setattr(making, "prepare", slow)
        run = bench.submit(graph(a=step(), b=step(), c=step("b")), continue_on_failure=True)
        bench.finish(run, "a", status="Failed")
        bench.finish(run, "b")
        bench.until(lambda: "c" in asked)
        bench.driver.retry(run, "a")
        go.set()
        bench.finish(run, "a")
        bench.finish(run, "c")
        bench.ended(run)
        nodes = [
            bench.record.runs.get(r["id"])["properties"]["azureml.nodeid"] for r in bench.record.runs.children(run)
        ]
        assert sorted(nodes) == ["a", "a", "b", "c"]

    def test_cancel_stops_all_and_starts_nothing(self, bench, diamond):
        run = bench.submit(diamond)
        bench.finish(run, "a")
        b, c = bench.started(run, "b"), bench.started(run, "c")
        bench.controller.cancel(run)
        steps = bench.ended(run, "Canceled")
        assert bench.status(b) == bench.status(c) == "Canceled"
        assert steps["d"]["phase"] == "canceled"
        assert steps["d"]["run_id"] is None
        bench.controller.cancel(run)  # harmless


class TestRestarts:
    def test_a_follower_goes_on_where_it_was(self, bench, diamond):
        run = bench.submit(diamond)
        for node in ("a", "b", "c", "d"):
            bench.started(run, node)
            bench.restart()
            assert bench.phase(run, node) == "running"
            bench.finish(run, node)
        bench.ended(run)
        assert len(bench.record.runs.children(run)) == 4

    def test_killed_between_deciding_and_making_the_run_is_made_once(self, bench):
        """The row names the run; the run was not made yet."""
        made = threading.Event()

        def die(run_id):
            made.set()
            raise RuntimeError("killed")

        run = bench.submit(graph(a=step(), b=step("a")))
        a = bench.started(run, "a")
        bench.controller.submitted = die
        bench.finish(run, "a")
        assert made.wait(60)
        decided = bench.record.pipeline_steps.of_run(run)["b"]["run_id"]
        bench.restart()
        assert bench.record.pipeline_steps.of_run(run)["b"]["run_id"] == decided
        bench.record.runs.advance(decided, status="Queued")  # the real controller takes up what the record has
        bench.finish(run, "b")
        bench.ended(run)
        assert {r["id"] for r in bench.record.runs.children(run)} == {a, decided}

    def test_a_run_that_ended_while_nobody_looked(self, bench):
        run = bench.submit(graph(a=step(), b=step("a")))
        bench.started(run, "a")
        bench.driver.stop()
        bench.finish(run, "a")
        bench.restart()
        bench.finish(run, "b")
        bench.ended(run)

    def test_a_cancel_is_not_forgotten(self, bench):
        run = bench.submit(graph(a=step(), b=step("a")))
        bench.started(run, "a")
        bench.controller.cancel = lambda run_id: None  # the step does not hear of it in time
        bench.driver.cancel(run)
        bench.restart()
        bench.ended(run, "Canceled")
        assert bench.phase(run, "b") == "canceled"

    def test_who_waited_for_another_pipeline_finds_it_again(self, bench):
        one, two = bench.submit(graph(a=step())), bench.submit(graph("other", a=step()))
        bench.until(lambda: {bench.phase(one, "a"), bench.phase(two, "a")} == {"running", "held"})
        worker, waiter = (one, two) if bench.phase(one, "a") == "running" else (two, one)
        bench.restart()
        done = bench.finish(worker, "a")
        bench.ended(worker)
        assert bench.ended(waiter)["a"]["reused_from"] == done

    def test_a_hundred_steps_in_parallel_are_each_made_once(self, bench):
        run = bench.submit(graph(**{f"s{i}": step(arguments=()) | {"version": i} for i in range(100)}), regenerate=True)
        bench.until(lambda: len(bench.record.runs.children(run)) >= 30)
        bench.restart()
        bench.until(lambda: len(bench.record.runs.children(run)) == 100)
        rows = bench.record.pipeline_steps.of_run(run)
        assert len({row["run_id"] for row in rows.values()}) == 100
        assert show_run(bench.record, run)["status"] == "Running"


def resolver_store(bench, made):
    from rookery.data.resolve import resolver_of

    return resolver_of(bench.record).store(made["datastore"])
