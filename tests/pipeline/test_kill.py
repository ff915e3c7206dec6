"""A real keeper, killed in the middle of a pipeline: another goes on, and no step is run twice. And what v1's users do."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request

import pytest

from rookery.sdk import (
    CommandStep,
    Experiment,
    OutputFileDatasetConfig,
    ParallelRunConfig,
    ParallelRunStep,
    Pipeline,
    PipelineData,
    PipelineDraft,
    PipelineEndpoint,
    PipelineParameter,
    PipelineRun,
    PublishedPipeline,
    PythonScriptStep,
    Schedule,
    ScheduleRecurrence,
    StepRun,
    StepSequence,
    Workspace,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Appends a line to a file of the test's own when it starts: how often it ran is what counts.
STEP = """
import argparse, os, time
parser = argparse.ArgumentParser()
for name in ("in", "out", "name", "wait", "seen"):
    parser.add_argument("--" + name, dest=name + "_")
given = parser.parse_args()
with open(given.seen_, "a") as f:
    f.write(given.name_ + "\\n")
while given.wait_ and not os.path.exists(given.wait_):
    time.sleep(0.05)
text = open(os.path.join(given.in_, "text")).read() if given.in_ else ""
with open(os.path.join(given.out_, "text"), "w") as f:
    f.write(text + given.name_ + " ")
"""
ENTRY = """
import os
def init():
    global prefix
    prefix = "row"
def run(mini_batch):
    return [prefix + " " + os.path.basename(path) for path in mini_batch]
"""


@pytest.fixture
def ws():
    return Workspace.create("flows")


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source folder"
    folder.mkdir()
    (folder / "step.py").write_text(STEP)
    (folder / "entry.py").write_text(ENTRY)
    return folder


def make_step(source, seen, name, after=None, wait=None):
    out = PipelineData(f"{name}_out")
    words = ["--name", name, "--out", out, "--seen", str(seen)]
    if after is not None:
        words += ["--in", after]
    if wait is not None:
        words += ["--wait", str(wait)]
    step = PythonScriptStep(
        "step.py", name, words, inputs=[after] if after is not None else [], outputs=[out], source_directory=str(source)
    )
    return step, out


def until(condition, limit_s=300.0):
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
    return found


class TestKilled:
    def test_in_the_middle_of_a_pipeline(self, ws, source, tmp_path):
        seen, go = tmp_path / "seen", tmp_path / "go"
        _first, a = make_step(source, seen, "first")
        _second, b = make_step(source, seen, "second", a, wait=go)
        third, _ = make_step(source, seen, "third", b)
        run = Pipeline(ws, third).submit("killed")
        until(lambda: seen.exists() and "second" in seen.read_text())
        pid = ws.client.request("GET", "/keeper")["pid"]
        os.kill(pid, signal.SIGKILL)
        go.touch()
        assert run.wait_for_completion(show_output=False) == "Finished"
        assert ws.client.request("GET", "/keeper")["pid"] != pid
        assert seen.read_text().split() == ["first", "second", "third"]
        assert {step.name: step.get_status() for step in run.get_steps()} == dict.fromkeys(
            ["first", "second", "third"], "Finished"
        )

    def test_canceled_all_of_it_stops(self, ws, source, tmp_path):
        seen = tmp_path / "seen"
        _, a = make_step(source, seen, "first", wait=tmp_path / "never")
        second, _ = make_step(source, seen, "second", a)
        run = Pipeline(ws, [second]).submit("canceled")
        until(lambda: seen.exists())
        run.cancel()
        assert run.wait_for_completion(show_output=False) == "Canceled"
        assert seen.read_text().split() == ["first"]


class TestAsInV1:
    def test_steps_outputs_reuse_publish(self, ws, source, tmp_path):
        """One pipeline with most of what v1's samples use, run, run again, published, called by its address."""
        seen = tmp_path / "seen"
        _first, a = make_step(source, seen, "first")
        word = PipelineParameter("word", "hello")
        made = OutputFileDatasetConfig("made")
        CommandStep(
            ["echo", word, "&& cp -rT", a, made], name="copy", inputs=[a], outputs=[made], source_directory=str(source)
        )
        rows = PipelineData("rows", pipeline_output_name="all_rows")
        config = ParallelRunConfig(None, "entry.py", 0, "append_row", None, 1, 2, "1", source_directory=str(source))
        many = ParallelRunStep("many-files", config, [made.as_input("files")], rows)
        lonely, _ = make_step(source, seen, "lonely")
        pipeline = Pipeline(ws, StepSequence([many, lonely]), description="samples")
        assert pipeline.validate() == []

        run = Experiment(ws, "v1").submit(pipeline, pipeline_parameters={"word": "hi"}, tags={"a": "b"})
        assert isinstance(run, PipelineRun)
        assert run.type == "azureml.PipelineRun"
        assert run.wait_for_completion(show_output=False) == run.get_status() == "Finished"
        copied = run.find_step_run("copy")[0]
        assert isinstance(copied, StepRun)
        assert copied.type == "azureml.StepRun"
        assert copied.get_stdout_log().strip() == "hi"
        output = run.find_step_run("first")[0].get_output_data("first_out")
        assert output.path_on_datastore == f"azureml/{run.find_step_run('first')[0].id}/first_out"
        assert output.download(str(tmp_path / "got")) == 1
        assert (tmp_path / "got" / output.path_on_datastore / "text").read_text() == "first "
        run.get_pipeline_output("all_rows").download(str(tmp_path / "rows"))
        found = next((tmp_path / "rows").rglob("parallel_run_step.txt"))
        assert found.read_text() == "row text\n"
        assert [r.id for r in run.get_children()]
        assert {r.type for r in run.get_children()} == {"azureml.StepRun"}

        published = pipeline.publish("flow", "what it does", "1")
        endpoint = PipelineEndpoint.publish(ws, "flows", "all of them", published)
        endpoint.add_default(pipeline.publish("flow", "again", "2"))
        assert (endpoint.default_version, [v.version for v in endpoint.list_versions()]) == ("1", ["0", "1"])
        assert [p.id for p in PublishedPipeline.list(ws)][-1] == published.id
        answer = post(ws, endpoint.endpoint, {"ExperimentName": "rest", "ParameterAssignments": {"word": "hi"}})
        again = PipelineRun.get(ws, answer["Id"])
        assert again.wait_for_completion(show_output=False) == "Finished"
        assert all(step["reused_from"] for step in again.get_step_details().values())
        assert {step.type for step in again.get_steps()} == {"azureml.ReusedStepRun"}
        assert again.find_step_run("copy")[0].get_stdout_log().strip() == "hi"
        for url in (
            f"{endpoint.endpoint}/0",
            endpoint.endpoint.split("Id", 1)[0] + "Name?name=" + endpoint.name + "&pipelineVersion=0",
            published.endpoint,
        ):
            body = {"ExperimentName": "rest", "ParameterAssignments": {"word": "hi"}, "RunSource": "test"}
            assert PipelineRun.get(ws, post(ws, url, body)["Id"]).wait_for_completion(show_output=False) == "Finished"
        assert {r.id for r in PipelineRun.get_pipeline_runs(ws, published.id)}
        assert seen.read_text().split() == [
            "first",
            "lonely",
        ]

        draft = PipelineDraft.create(ws, run, "mine", experiment_name="drafts", pipeline_parameters={"word": "hi"})
        drafted = draft.submit_run()
        assert drafted.wait_for_completion(show_output=False) == "Finished"
        assert PipelineDraft.get(ws, draft.id).last_submitted_pipeline_run_id == drafted.id

        schedule = Schedule.create(
            ws, "often", published.id, "scheduled", ScheduleRecurrence("Day", 1), pipeline_parameters={"word": "hi"}
        )
        last = until(schedule.get_last_pipeline_run)
        assert last.wait_for_completion(show_output=False) == "Finished"
        schedule.disable()
        assert Schedule.list(ws) == []
        assert len(schedule.get_pipeline_runs()) == 1


def post(ws, url, body):
    with open(os.path.join(ws.client.root, "keeper", "token")) as f:
        token = f.read().strip()
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())
