"""Training through a compute target: a node that is taken away in the middle of an epoch changes nothing; neither does who launched it."""

from __future__ import annotations

import os
import sys
import time

import pytest

from rookery.testing.ending import wait_for_end
from rookery.testing.openmpi import ensure_openmpi
from rookery_vision.catalog import find
from rookery_vision.formats.model_directory import read_model_spec, read_state
from tests.vision.test_train import same

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

# Stops where the test says, in the first attempt, until it is told that its node goes: the preemption comes then and not earlier or later.
SCRIPT = """
import os, sys, time
from rookery.worker import should_stop
from rookery_vision.classification.telling import Telling

real = Telling.step

def step(self, progress, num_steps):
    real(self, progress, num_steps)
    if os.environ["ROOKERY_ATTEMPT"] == "1" and os.environ.get("STOP_AT") == "%d.%d" % (progress.epoch + 1, progress.step):
        print("stopped by the test", flush=True)
        while not should_stop():
            time.sleep(0.02)

Telling.step = step
from rookery_vision.__main__ import main
sys.exit(main())
"""
OPTIONS = {
    "epochs": 3,
    "learning_rate": 0.01,
    "image_size": 32,
    "print_frequency": 1,
    "precision": "float32",
    "patience": 3,
}


@pytest.fixture
def ws():
    from rookery.sdk import Workspace

    return Workspace.create("vision-spot", exist_ok=True)


@pytest.fixture
def train(ws, untrained, parts, tmp_path):
    """Train as a run on a cluster whose one node can be taken away; (the run, where its model will be)."""
    from rookery.sdk import AmlCompute, ComputeTarget, Environment, Experiment, ScriptRunConfig

    source = tmp_path / "source"
    source.mkdir()
    (source / "run_module.py").write_text(SCRIPT)
    spot = AmlCompute.provisioning_configuration(vm_size="", vm_priority="lowpriority", max_nodes=1)
    ComputeTarget.create(ws, "spot", spot)
    card = find("train_pytorch_model")

    def train(name, batch_size=4, distributed=None, stop_at=""):
        model = str(tmp_path / name)
        ports = dict(zip((p.name for p in (*card.inputs, *card.outputs)), (untrained, *parts, model)))
        here = Environment("here")
        here.python.user_managed_dependencies = True
        here.python.interpreter_path = sys.executable
        here.environment_variables = {
            "STOP_AT": stop_at,
            "OMP_NUM_THREADS": "1",
            "ROOKERY_VISION_CACHE": str(tmp_path / "decoded"),
            "ROOKERY_VISION_PROBES": os.environ["ROOKERY_VISION_PROBES"],
        }
        config = ScriptRunConfig(
            str(source),
            script="run_module.py",
            arguments=card.command(ports, {}, {**OPTIONS, "batch_size": batch_size}),
            compute_target="spot",
            environment=here,
            distributed_job_config=distributed,
        )
        return Experiment(ws, "vision-spot").submit(config), model

    return train


def logs_of(run):
    return "\n".join(text for name, text in run.get_details_with_logs()["logFiles"].items() if "70_driver_log" in name)


def ended(run):
    details = wait_for_end(run, 240)
    assert details["status"] == "Completed", (details["error"], logs_of(run))
    return details


class TestPreempted:
    def test_gives_the_weights_of_an_uninterrupted_training(self, ws, train):
        from rookery.sdk import ComputeTarget

        whole, expected = train("whole")
        ended(whole)
        run, model = train("taken", stop_at="2.2")
        deadline = time.monotonic() + 180
        while "stopped by the test" not in logs_of(run):
            assert time.monotonic() < deadline, logs_of(run)
            time.sleep(0.1)
        ComputeTarget(ws, "spot").preempt(grace_s=60, away_s=0)
        attempts = ended(run)["attempts"]
        assert [a["result"] for a in attempts] == ["lost", "completed"]
        assert attempts[0]["cause"]["kind"] == "Preempted"
        said = logs_of(run)
        assert "asked to stop: saved epoch 2, step 2" in said
        assert "going on in epoch 2, after 2 steps of it" in said
        assert same(read_state(model), read_state(expected))
        rows = run.get_metrics()["Train loss"]
        assert rows["epoch"] == [1, 2, 3]  # each epoch told once
        assert rows["train_loss"] == pytest.approx(whole.get_metrics()["Train loss"]["train_loss"], rel=1e-6)


class TestLaunched:
    def test_by_mpirun_as_by_us(self, train):
        """Two processes with MpiConfiguration come to the weights of two that the agent starts itself."""
        from rookery.sdk import MpiConfiguration, PyTorchConfiguration

        ensure_openmpi()
        ours, expected = train("ours", 2, PyTorchConfiguration("Gloo", 2))
        ended(ours)
        run, model = train("by mpirun", 2, MpiConfiguration(2, 1))
        ended(run)
        assert read_model_spec(model).training["world_size"] == 2
        assert same(read_state(model), read_state(expected))
