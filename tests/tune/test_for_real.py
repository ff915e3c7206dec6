"""Tunings from end to end, in v1's words: many children on two cores, a killed keeper, estimators, warm starts, commands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time

import pytest

from rookery.azureml.core import ComputeTarget, Environment, Experiment, Run, ScriptRunConfig, Workspace
from rookery.azureml.core.compute import AmlCompute
from rookery.azureml.train.estimator import Estimator
from rookery.azureml.train.hyperdrive import (
    BanditPolicy,
    GridParameterSampling,
    HyperDriveConfig,
    HyperDriveRun,
    HyperDriveRunConfig,
    PrimaryMetricGoal,
    RandomParameterSampling,
    choice,
    uniform,
)
from rookery.spec.paths import WorkspacePaths

pytestmark = pytest.mark.slow

CHILDREN = int(os.environ.get("TUNE_CHILDREN", "30"))  # 200 in `make soak`

TRAINS = """
import argparse, os, sys, time
from azureml.core import Run
given = argparse.ArgumentParser()
given.add_argument("--lr", type=float)
given.add_argument("--batch", type=int, default=1)
given.add_argument("--resume-from")
given.add_argument("--gate", default="")
given = given.parse_args()
run = Run.get_context()
for step in range(3):
    run.log("accuracy", 1 - abs(given.lr - 0.3) - given.batch / 1000)
if given.resume_from:
    run.log("resumed", open(os.path.join(given.resume_from, "weights.txt")).read())
os.makedirs("outputs", exist_ok=True)
with open("outputs/weights.txt", "w") as f:
    f.write("lr %r" % given.lr)
while given.gate and not os.path.exists(given.gate):
    time.sleep(0.05)
"""


@pytest.fixture
def ws():
    return Workspace.create("tuning")


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source's folder"
    folder.mkdir()
    (folder / "train.py").write_text(TRAINS)
    return folder


def script(source, *arguments):
    return ScriptRunConfig(str(source), "train.py", arguments=list(arguments), compute_target="local")


def wait(run, limit_s=250.0):
    """Its status once it has ended, whatever keeper answers meanwhile."""
    deadline = time.monotonic() + limit_s
    while (status := run.get_status()) not in ("Completed", "Failed", "Canceled"):
        assert time.monotonic() < deadline, run.get_detailed_status()
        time.sleep(0.2)
    return status


def test_many_children_on_two_cores(ws, source):
    sampling = RandomParameterSampling({"lr": uniform(0, 1), "--batch": choice(16, 32)}, properties={"seed": 1})
    config = HyperDriveConfig(
        sampling, "accuracy", PrimaryMetricGoal.MAXIMIZE, CHILDREN, 4, policy=BanditPolicy(slack_factor=0.2), run_config=script(source)
    )  # fmt: skip
    run = Experiment(ws, "birds").submit(config)
    assert isinstance(run, HyperDriveRun)
    assert (run.type, run.id[:3], run.hyperdrive_config) == ("hyperdrive", "HD_", config)
    assert wait(run, 250.0 if CHILDREN <= 30 else 3000.0) == "Completed"
    children = list(run.get_children())
    assert len(children) == CHILDREN
    assert {child.get_status() for child in children} <= {"Completed", "Canceled"}
    listed = run.get_children_sorted_by_primary_metric()
    metrics = [child["best_primary_metric"] for child in listed if child["best_primary_metric"] is not None]
    assert metrics == sorted(metrics, reverse=True)
    assert [c["run_id"] for c in run.get_children_sorted_by_primary_metric(top=2)] == [c["run_id"] for c in listed[:2]]
    best = run.get_best_run_by_primary_metric()
    assert best.id == listed[0]["run_id"]
    values = json.loads(run.get_hyperparameters()[best.id])
    assert best.get_details()["runDefinition"]["arguments"] == [
        "--lr",
        str(values["lr"]),
        "--batch",
        str(values["--batch"]),
    ]
    assert run.get_metrics()[best.id]["accuracy"][0] == pytest.approx(listed[0]["best_primary_metric"])
    tags = run.get_tags()
    assert json.loads(tags[f"_aml_system_{best.id}"]) == values
    assert json.loads(tags["policy_config"])["name"] == "Bandit"
    again = Run.get(ws, run.id)
    assert isinstance(again, HyperDriveRun)
    assert again.get_best_run_by_primary_metric(include_canceled=False).get_status() == "Completed"
    assert [r.id for r in Experiment(ws, "birds").get_runs(type="hyperdrive")] == [run.id]


def test_a_keeper_that_is_killed_again_and_again(ws, source, tmp_path):
    """Every child once, with the values that the seed gives, whatever was under way."""
    gate = tmp_path / "gate"
    sampling = RandomParameterSampling({"lr": uniform(0, 1)}, properties={"seed": 4})
    config = HyperDriveConfig(
        sampling, "accuracy", PrimaryMetricGoal.MAXIMIZE, 8, 2, run_config=script(source, "--gate", str(gate))
    )
    run = Experiment(ws, "birds").submit(config)
    for blow in range(3):
        deadline = time.monotonic() + 150
        while not any(child.get_status() == "Running" for child in run.get_children()):
            assert time.monotonic() < deadline, run.get_detailed_status()
            time.sleep(0.05)
        if blow == 2:
            gate.touch()  # children end and others begin while it is hit
        pid = ws.client.request("GET", "/keeper")["pid"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert wait(run) == "Completed"
    children = list(run.get_children())
    assert sorted(child.id for child in children) == [f"{run.id}_{number}" for number in range(8)]
    assert {child.get_status() for child in children} == {"Completed"}
    from rookery.tune.samplers import draw

    wanted = [draw(config.plan(), 4, number) for number in range(8)]
    assert [json.loads(run.get_hyperparameters()[f"{run.id}_{number}"]) for number in range(8)] == wanted


def test_a_keeper_that_is_killed_while_no_child_runs_comes_back_though_nobody_asks(ws, source, tmp_path):
    """No agent is there to start it, and no client."""
    seen = tmp_path / "seen"
    (source / "train.py").write_text(f"open({str(seen)!r}, 'a').write('child ')\n")
    spot = ComputeTarget.create(
        ws, "spot", AmlCompute.provisioning_configuration(vm_priority="lowpriority", min_nodes=1, max_nodes=1)
    )
    until(lambda: spot.list_nodes(), spot.get_status)
    spot.preempt(away_s=3600)  # so children wait; the next keeper gives it back
    config = ScriptRunConfig(str(source), "train.py", compute_target="spot")
    grid = GridParameterSampling({"lr": choice(1, 2)})
    Experiment(ws, "birds").submit(
        HyperDriveConfig(grid, "accuracy", PrimaryMetricGoal.MAXIMIZE, 2, 1, run_config=config)
    )
    with open(WorkspacePaths(ws.root).endpoint) as f:
        pid = json.load(f)["pid"]
    until(lambda: any(b"rookery-watchman" in words for words in children_of(pid)), lambda: children_of(pid))
    os.kill(pid, signal.SIGKILL)
    until(lambda: seen.exists() and seen.read_text() == "child child ", lambda: "only the test itself may ask")


def until(condition, evidence, limit_s=120.0):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, evidence()
        time.sleep(0.05)


def children_of(pid):
    """The command lines of the processes that it has started."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as f:
            for child in f.read().split():
                with contextlib.suppress(OSError), open(f"/proc/{child}/cmdline", "rb") as words:
                    found.append(words.read())
    return found


def test_warm_starts_and_outputs_of_earlier_children(ws, source):
    grid = GridParameterSampling({"lr": choice(0.1, 0.2)})
    goal = PrimaryMetricGoal.MAXIMIZE
    first = Experiment(ws, "birds").submit(HyperDriveConfig(grid, "accuracy", goal, 5, run_config=script(source)))
    assert wait(first) == "Completed"
    best = first.get_best_run_by_primary_metric()
    worse = GridParameterSampling({"lr": choice(0.9)})
    second = Experiment(ws, "birds").submit(
        HyperDriveConfig(
            worse, "accuracy", goal, 5, run_config=script(source), resume_from=first, resume_child_runs=[best]
        )
    )
    assert wait(second) == "Completed", second.get_details()
    assert json.loads(second.get_hyperparameters()[f"{second.id}_0"]) == {"lr": 0.2}
    resumed = Run.get(ws, f"{second.id}_0")
    assert resumed.get_metrics()["resumed"] == "lr 0.2"
    assert second.get_best_run_by_primary_metric(include_resume_from_runs=False).id == resumed.id
    assert len(list(second.get_children())) == 2


def test_cancel_and_estimators_and_older_names(ws, source, tmp_path):
    with pytest.warns(DeprecationWarning, match="Estimator"):
        estimator = Estimator(
            str(source), compute_target="local", entry_script="train.py", script_params={"--gate": str(tmp_path / "never")},
            environment_definition=own_environment(),
        )  # fmt: skip
    with pytest.warns(DeprecationWarning, match="HyperDriveRunConfig"):
        config = HyperDriveRunConfig(
            estimator, RandomParameterSampling({"lr": uniform(0, 1)}), "accuracy", PrimaryMetricGoal.MINIMIZE, 50, 2
        )
    run = Experiment(ws, "birds").submit(config)
    deadline = time.monotonic() + 120
    while run.get_best_run_by_primary_metric() is None:  # live: no child has ended
        assert time.monotonic() < deadline, run.get_detailed_status()
        time.sleep(0.1)
    run.cancel()
    assert wait(run) == "Canceled"
    assert {child.get_status() for child in run.get_children()} == {"Canceled"}


def own_environment():
    environment = Environment("mine")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    return environment
