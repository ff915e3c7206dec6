"""The same faults in submitted runs: the real keeper, its engine, agents on two nodes of this machine, real launchers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from rookery.sdk import (
    AmlCompute,
    ComputeTarget,
    Environment,
    Experiment,
    MpiConfiguration,
    PyTorchConfiguration,
    ScriptRunConfig,
    Workspace,
)
from tests.faults.gang import SCRIPTS

pytestmark = pytest.mark.slow
ROOKERY = os.path.join(os.path.dirname(sys.executable), "rookery")
PATIENCE_S = 240.0


class Nest:
    """A workspace with a cluster of two nodes."""

    def __init__(self, folder):
        self.workspace = Workspace.create("nest", location=str(folder / "work space"), exist_ok=True)
        settings = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", max_nodes=2)
        ComputeTarget.create(self.workspace, "two", settings).wait_for_completion()
        self.source = folder / "source"
        shutil.copytree(SCRIPTS, self.source)
        self.group = str(folder / "g")

    def submit(self, fault, rank, nodes=2, command=None, mpi=False, **variables):
        environment = Environment("here")
        environment.python.user_managed_dependencies = True
        environment.python.interpreter_path = sys.executable
        count = None if command else 2 * nodes
        what = {"command": command} if command else {"script": "train.py"}
        config = ScriptRunConfig(
            source_directory=str(self.source),
            compute_target="two",
            environment=environment,
            distributed_job_config=MpiConfiguration(2, nodes)
            if mpi
            else PyTorchConfiguration("Gloo", process_count=count, node_count=nodes),
            **what,
        )
        config.run_config.environment_variables = {
            "FAULT": fault,
            "FAULT_RANK": str(rank),
            "GROUP_PATH": f"{self.group}{fault}",
            **variables,
        }
        return Experiment(self.workspace, "faults").submit(config)

    def error(self, run):
        run.wait_for_completion(raise_on_error=False)
        assert run.get_status() == "Failed"
        return self.workspace.client.request("GET", f"/runs/{run.id}")["error"]


@pytest.fixture
def nest(tmp_path, monkeypatch):
    monkeypatch.setenv("ROOKERY_HEARTBEAT_S", "0.5")
    return Nest(tmp_path)


class TestSubmitted:
    def test_rank_of_another_node_is_named(self, nest):
        cause = nest.error(nest.submit("exception", 3))
        assert (cause["rank"], cause["node"], cause["exception"]) == (3, 1, "RuntimeError: bad shape (3, 4)")
        assert "train.py" in cause["traceback"]

    def test_killed_rank_is_named_and_not_those_it_leaves(self, nest):
        cause = nest.error(nest.submit("killed", 1))
        assert (cause["rank"], cause["node"], cause["signal"]) == (1, 0, "SIGKILL")

    def test_rank_below_torchrun(self, nest):
        """A crash: torchrun itself shows no stack, the recorder does."""
        command = (
            "python -m torch.distributed.run --nproc_per_node 2 --nnodes 2 --node_rank $NODE_RANK "
            "--master_addr $MASTER_ADDR --master_port $MASTER_PORT train.py"
        )
        cause = nest.error(nest.submit("segmentation_fault", 2, command=command))
        assert (cause["rank"], cause["node"], cause["signal"]) == (2, 1, "SIGSEGV")
        assert "crash_in_compiled_code" in cause["traceback"]

    @pytest.mark.parametrize(("fault", "rank"), [("exception", 3), ("killed", 0), ("segmentation_fault", 1)])
    def test_rank_below_mpirun(self, nest, fault, rank):
        cause = nest.error(nest.submit(fault, rank, mpi=True))
        assert (cause["rank"], cause["node"]) == (rank, rank // 2), cause
        assert cause["fault"] == ("" if fault == "exception" else fault)

    def test_stall_on_two_nodes(self, nest):
        run = nest.submit("stalled", 2, ROOKERY_STALL_TIMEOUT_S="4")
        cause = nest.error(run)
        assert (cause["kind"], cause["rank"], cause["node"]) == ("Stalled", 2, 1)
        assert "stuck_in_loading" in cause["summary"]
        stacks = [name for name in run.get_file_names() if "stacks/rank_" in name]
        assert sorted(stacks) == [f"azureml-logs/stacks/rank_{n}.txt" for n in range(4)]


class TestDemo:
    def test_ten_causes(self, tmp_path, home):
        done = subprocess.run(
            [ROOKERY, "faults", "demo", "--json"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            cwd=tmp_path,
            check=False,
        )
        told = json.loads(done.stdout)
        assert [one["fault"] for one in told["faults"] if not one["recognised"]] == []
        assert (told["recognised"], done.returncode) == (10, 0)
        ranks = {one["fault"]: one["cause"]["rank"] for one in told["faults"]}
        assert ranks == {**dict.fromkeys(ranks, 1), "time_limit": None}
