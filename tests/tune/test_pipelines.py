"""Tunings of pipelines: children are runs of the pipeline, the values are its parameters, the metric may be a step's."""

from __future__ import annotations

import json
import time

import pytest

from rookery.azureml.core import Experiment, Run, Workspace
from rookery.azureml.pipeline.core import Pipeline, PipelineData, PipelineParameter, PipelineRun
from rookery.azureml.pipeline.steps import HyperDriveStep, PythonScriptStep
from rookery.azureml.train.hyperdrive import (
    BanditPolicy,
    GridParameterSampling,
    HyperDriveConfig,
    PrimaryMetricGoal,
    RandomParameterSampling,
    choice,
    uniform,
)
from rookery.azureml.train.hyperdrive.exceptions import HyperDriveConfigException, HyperDriveException
from rookery.errors import RunConfigError, UserError
from rookery.spec.pipeline import new_graph
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.tune import TunePlan, check_tune_plan
from rookery.tune.view import show_tuning

GRAPH = {
    **new_graph("flow"),
    "parameters": {"lr": {"type": "number", "default": 0.5}, "net": {"type": "string", "default": "a"}},
    "nodes": {"train": {"kind": "script", "run": {"script": "train.py"}}},
}


def plan(space, graph=GRAPH, **fields):
    known = {"metric": "accuracy", "goal": "maximize", "max_total_runs": 2, **fields}
    return TunePlan(space=space, pipeline={"graph": graph, "parameters": {}}, **known)


class TestPlan:
    def test_what_is_sampled_must_be_parameters_of_the_pipeline(self):
        check_tune_plan(plan({"--lr": ["uniform", [0, 1]], "net": ["choice", [["a", "b"]]]}))
        with pytest.raises(UserError, match=r"has no parameter 'lrr'\. It has: lr, net"):
            check_tune_plan(plan({"lrr": ["uniform", [0, 1]]}))
        with pytest.raises(UserError, match="'lr' of the pipeline is 'fast'"):
            check_tune_plan(plan({"lr": ["choice", [[1, "fast"]]]}))

    def test_children_are_not_resumed(self):
        with pytest.raises(RunConfigError, match="resume_child_runs is for scripts"):
            check_tune_plan(plan({"lr": ["uniform", [0, 1]]}, resume_children=("HD_0_1",)))


class TestDriver:
    """Over a real record, with a controller that starts nothing."""

    def submit(self, bench, **fields):
        graph = {"graph": GRAPH, "parameters": {"net": "b"}}
        return bench.submit(script=None, pipeline=graph, max_total_runs=2, max_concurrent_runs=2, **fields)

    def begin_step(self, bench, child, run_id, reused_from=None):
        """As the driver of pipelines does: the row first."""
        bench.record.pipeline_steps.begin(child, [("train", "flow/train")])
        row = {"phase": "running", "run_id": run_id, "reused_from": reused_from}
        bench.record.pipeline_steps.change(child, {"train": row})
        bench.record.runs.create(RunSpec(run_id, "birds", RunKind.CHILD, parent_id=child), "ann")

    def test_children_are_runs_of_the_pipeline(self, bench):
        self.submit(bench)
        child = bench.until(lambda: bench.children().get("HD_1_1"))
        sampled = show_tuning(bench.record, "HD_1")["trials"][1]["parameters"]
        assert (child["kind"], child["parent_id"]) == ("pipeline", "HD_1")
        assert child["spec"]["plan"]["parameters"] == {"net": "b", **sampled}
        bench.until(lambda: bench.children()["HD_1_1"]["params"] == {"lr": str(sampled["lr"])})

    def test_the_metric_is_the_steps_unless_the_pipeline_has_its_own(self, bench):
        self.submit(bench, policy="bandit", policy_options={"slack_factor": 0.1})
        bench.until(lambda: len(bench.children()) == 2)
        self.begin_step(bench, "HD_1_0", "step-0")
        bench.log("step-0", 0.5, 0.9)
        best = bench.until(lambda: show_tuning(bench.record, "HD_1")["trials"][0]["best"])
        assert best == 0.9
        bench.log("HD_1_1", 0.2)  # its own
        bench.until(lambda: bench.status("HD_1_1") == "Canceled")
        assert "Bandit at interval 1" in show_tuning(bench.record, "HD_1")["trials"][1]["stopped"]
        bench.restart()
        bench.end("HD_1_0")
        bench.until(lambda: bench.status() == "Completed")
        assert show_tuning(bench.record, "HD_1")["best"] == "HD_1_0"

    def test_of_a_reused_step_it_is_that_of_the_run_that_did_the_work(self, bench):
        self.submit(bench)
        bench.until(lambda: len(bench.children()) == 2)
        self.begin_step(bench, "HD_1_0", "step-0")
        bench.log("step-0", 0.7)
        self.begin_step(bench, "HD_1_1", "step-1", reused_from="step-0")
        bench.end("HD_1_0")
        bench.end("HD_1_1")
        bench.until(lambda: bench.status() == "Completed")
        assert [t["best"] for t in show_tuning(bench.record, "HD_1")["trials"]] == [0.7, 0.7]

    def test_a_metric_that_no_step_logs_is_a_warning(self, bench):
        self.submit(bench)
        bench.until(lambda: len(bench.children()) == 2)
        self.begin_step(bench, "HD_1_0", "step-0")
        bench.log("step-0", 0.7, name="Acuracy")
        bench.end("HD_1_0")
        bench.end("HD_1_1")
        bench.until(lambda: bench.status() == "Completed")
        run = bench.record.runs.get("HD_1")
        assert "It logged: Acuracy. Did you mean 'Acuracy'?" in run["warnings"][0]
        assert "none has logged the primary metric 'accuracy'" in run["reason"]


PREPARES = """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--out")
parser.add_argument("--seen")
given = parser.parse_args()
with open(given.seen, "a") as f:
    f.write("prepared ")
with open(os.path.join(given.out, "text"), "w") as f:
    f.write("0.3")
"""
TRAINS = """
import argparse, os, time
from azureml.core import Run
parser = argparse.ArgumentParser()
parser.add_argument("--data")
parser.add_argument("--lr", type=float)
parser.add_argument("--bad-ones-wait", action="store_true")
given = parser.parse_args()
goal = float(open(os.path.join(given.data, "text")).read())
value = 1 - abs(given.lr - goal)
Run.get_context().log("accuracy", value)
while value < 0.5:  # until it is stopped
    time.sleep(0.05)
"""


@pytest.fixture
def ws():
    return Workspace.create("flows")


@pytest.fixture
def pipeline(ws, tmp_path):
    folder = tmp_path / "source's folder"
    folder.mkdir()
    (folder / "prepare.py").write_text(PREPARES)
    (folder / "train.py").write_text(TRAINS)
    data = PipelineData("data")
    seen = str(tmp_path / "seen")
    prepare = PythonScriptStep(
        "prepare.py", "prepare", ["--out", data, "--seen", seen], outputs=[data], source_directory=str(folder)
    )
    lr = PipelineParameter("lr", 0.5)
    train = PythonScriptStep(
        "train.py", "train", ["--data", data, "--lr", lr], inputs=[data], source_directory=str(folder)
    )
    return Pipeline(ws, [prepare, train], name="flow")


def test_for_real(ws, pipeline, tmp_path):
    """Each child a pipeline; what they share is done once; the bad one is stopped, and with it its step."""
    config = HyperDriveConfig(
        GridParameterSampling({"lr": choice(0.3, 0.2, 0.95)}), "accuracy", PrimaryMetricGoal.MAXIMIZE, 5, 2,
        policy=BanditPolicy(slack_factor=0.3), pipeline=pipeline,
    )  # fmt: skip
    assert (config.pipeline, config.run_config, config.source_directory) == (pipeline, None, None)
    run = Experiment(ws, "birds").submit(config, tags={"a": "b"})
    deadline = time.monotonic() + 250
    while run.get_status() not in ("Completed", "Failed", "Canceled"):
        assert time.monotonic() < deadline, run.get_detailed_status()
        time.sleep(0.2)
    assert run.get_status() == "Completed", run.get_details()
    children = {child.id: child for child in run.get_children()}
    assert {key: child.get_status() for key, child in children.items()} == {
        f"{run.id}_0": "Finished", f"{run.id}_1": "Finished", f"{run.id}_2": "Canceled",
    }  # fmt: skip
    best = run.get_best_run_by_primary_metric()
    assert isinstance(best, PipelineRun)
    assert best.id == f"{run.id}_0"
    assert [step.name for step in best.get_steps()] == ["prepare", "train"]
    assert run.get_metrics()[best.id] == {"accuracy": 1.0}
    assert json.loads(run.get_hyperparameters()[best.id]) == {"lr": 0.3}
    stopped = {step.name: step.get_status() for step in children[f"{run.id}_2"].get_steps()}
    assert stopped == {"prepare": "Finished", "train": "Canceled"}
    assert (tmp_path / "seen").read_text().split() == ["prepared"]
    assert Run.get(ws, run.id).get_tags()["a"] == "b"


def test_what_cannot_be_is_said_when_it_is_configured(ws, pipeline):
    goal = PrimaryMetricGoal.MAXIMIZE
    with pytest.raises(HyperDriveConfigException, match=r"has no parameter 'rate'\. It has: lr"):
        HyperDriveConfig(RandomParameterSampling({"rate": uniform(0, 1)}), "accuracy", goal, 5, pipeline=pipeline)
    sampling = RandomParameterSampling({"lr": uniform(0, 1)})
    with pytest.raises(HyperDriveConfigException, match=r"pipeline is str\. Give a Pipeline"):
        HyperDriveConfig(sampling, "accuracy", goal, 5, pipeline="flow")
    config = HyperDriveConfig(sampling, "accuracy", goal, 5, pipeline=pipeline)
    with pytest.raises(HyperDriveException, match="tunes a pipeline"):
        HyperDriveStep("search", config)
