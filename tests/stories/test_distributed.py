"""Distributed training as users write it, on two nodes of one machine: real torch, real torchrun, real mpirun."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import textwrap

import pytest

from rookery.errors import ComputeError
from rookery.sdk import Environment, Experiment, ScriptRunConfig, Workspace
from rookery.sdk.aml_compute import AmlCompute
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.distributed import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from rookery.sdk.run_configuration import RunConfiguration
from rookery.testing.ending import wait_for_end
from rookery.testing.openmpi import ensure_openmpi

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(os.path.dirname(ROOT), "shared", "checks", "article.py")

DDP = """
    import os, torch, torch.distributed as dist
    dist.init_process_group('gloo')
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    torch.manual_seed(rank)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        loss = net(torch.randn(16, 4)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    mine = torch.cat([p.detach().flatten() for p in net.parameters()])
    mean = mine.clone(); dist.all_reduce(mean)
    assert torch.allclose(mean / world, mine, atol=1e-6)
    line = 'RANK %d OF %d PORT %s THREADS %s\\n' % (rank, world, os.environ['MASTER_PORT'], os.environ['OMP_NUM_THREADS'])
    print(line, end='', flush=True)
    dist.barrier(); dist.destroy_process_group()
"""
SHOW = """
    import os, sys
    e = os.environ
    names = sys.argv[1:]
    print('SHOW', *[e.get(n, '-') for n in names], flush=True)
"""


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def submit(ws, tmp_path):
    """Submit to a cluster of two nodes; waits for the end."""
    config = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", max_nodes=2)
    target = ComputeTarget.create(ws, "two-nodes", config)
    env = Environment("here")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = sys.executable

    def run(text, distributed, **fields):
        folder = tmp_path / "a source folder"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(textwrap.dedent(text))
        if "command" not in fields:
            fields["script"] = "train.py"
        src = ScriptRunConfig(
            str(folder), compute_target=target, environment=env, distributed_job_config=distributed, **fields
        )
        submitted = Experiment(ws, "exp").submit(src)
        wait_for_end(submitted)
        assert submitted.get_status() == "Completed", submitted.get_details()["error"]
        return submitted

    return run


def logs_of(run) -> dict[str, str]:
    return {k: v for k, v in run.get_details_with_logs()["logFiles"].items() if "70_driver_log" in k}


class TestPyTorch:
    def test_per_process_when_the_port_is_taken(self, submit):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind(("127.0.0.1", 6105))
                taken.listen()
            except OSError:
                pass  # somebody else has it: as good
            run = submit(DDP, PyTorchConfiguration("Gloo", 4, 2))
        logs = logs_of(run)
        assert sorted(logs) == [f"azureml-logs/70_driver_log_{n}.txt" for n in range(4)]
        found = [re.search(r"RANK (\d) OF 4 PORT (\d+) THREADS 1", logs[name]) for name in sorted(logs)]
        assert [m and m.group(1) for m in found] == ["0", "1", "2", "3"]
        assert len({m.group(2) for m in found}) == 1
        assert found[0].group(2) != "6105"

    def test_per_node_with_torchrun(self, submit):
        command = (
            "torchrun --nproc_per_node 2 --nnodes 2 --node_rank $NODE_RANK --master_addr $MASTER_ADDR "
            "--master_port $MASTER_PORT train.py"
        )
        run = submit(DDP, PyTorchConfiguration(node_count=2), command=command)
        assert [text.split(" PORT")[0] for _, text in sorted(logs_of(run).items())] == [
            f"RANK {n} OF 4" for n in range(4)
        ]


class TestOthers:
    def test_tensorflow_finds_its_cluster(self, submit):
        text = "import os; print(os.environ['TF_CONFIG'], flush=True)"
        run = submit(text, TensorflowConfiguration(worker_count=2, parameter_server_count=0))
        texts = list(logs_of(run).values())
        assert len(texts) == 2
        assert all('"worker": ["127.0.0.1:' in t for t in texts)
        assert sorted(re.search(r'"index": (\d)', t).group(1) for t in texts) == ["0", "1"]

    def test_parallel_tasks(self, submit, ws, tmp_path):
        run_config = RunConfiguration(communicator="ParallelTask")
        run_config.node_count, run_config.target = 2, "two-nodes"
        run_config.environment.python.user_managed_dependencies = True
        run_config.environment.python.interpreter_path = sys.executable
        folder = tmp_path / "tasks"
        folder.mkdir()
        (folder / "t.py").write_text("import os; print('TASK', os.environ['AZ_BATCHAI_TASK_INDEX'])")
        src = ScriptRunConfig(str(folder), script="t.py", run_config=run_config)
        run = Experiment(ws, "exp").submit(src)
        run.wait_for_completion()
        assert sorted(v.split()[-1] for v in logs_of(run).values()) == ["0", "1"]

    def test_too_many_processes_are_refused_before_anything_starts(self, submit, ws):
        many = 2 * (len(os.sched_getaffinity(0)) + 1)
        with pytest.raises(ComputeError, match="Processing Unit"):
            submit(SHOW, PyTorchConfiguration("Gloo", many, 2))
        assert list(Experiment(ws, "exp").get_runs()) == []


class TestMpi:
    def test_mpirun_numbers_its_ranks_and_every_rank_has_its_log(self, submit):
        ensure_openmpi()
        names = ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "AZUREML_CR_NODE_RANK"]
        run = submit(SHOW, MpiConfiguration(2, 2), arguments=names)
        logs = logs_of(run)
        assert [logs[name].strip() for name in sorted(logs)] == [
            "SHOW 0 4 0 0",
            "SHOW 1 4 1 0",
            "SHOW 2 4 0 1",
            "SHOW 3 4 1 1",
        ]
        assert "azureml-logs/70_mpi_log.txt" in run.get_details_with_logs()["logFiles"]


@pytest.mark.parametrize("name", ["ddp_per_process", "ddp_per_node", "horovod_mnist"])
def test_the_examples(name, tmp_path):
    if name == "horovod_mnist":
        ensure_openmpi()
    _run([sys.executable, os.path.join(ROOT, "examples", name + ".py"), "--epochs", "2"], tmp_path)


@pytest.mark.skipif(
    not os.path.exists(CHECK) and not os.environ.get("CI"),
    reason="the mission's check lies beside the checkout, not in it",
)
def test_the_missions_check(tmp_path):
    ensure_openmpi()
    printed = _run([sys.executable, CHECK, "ddp_process", "ddp_node", "mpi"], tmp_path)
    assert len(re.findall(r"^(?:ddp_process|ddp_node|mpi) +ok ", printed, re.MULTILINE)) == 3


def _run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
