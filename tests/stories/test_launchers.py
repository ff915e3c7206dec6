"""Real launchers in the command of a run: torchrun, torch.distributed.launch and accelerate, on two nodes of one machine. Each rank has its
own log and exit code, whoever started it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

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
from rookery.testing.accelerate import make_accelerate
from rookery.testing.ending import wait_for_end
from rookery.testing.openmpi import ensure_openmpi

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
MEETING = "--nnodes 2 --node_rank $NODE_RANK --master_addr $MASTER_ADDR --master_port $MASTER_PORT"
TORCHRUN = f"torchrun --nproc_per_node 2 {MEETING}"
SUM = """
import os, sys, torch, torch.distributed as dist
dist.init_process_group('gloo')
total = torch.tensor([float(dist.get_rank())]); dist.all_reduce(total)
print('RANK', dist.get_rank(), 'SUM', int(total), 'INDEX', os.environ['AZ_BATCHAI_TASK_INDEX'], flush=True)
sys.stderr.write('said on stderr by %d\\n' % dist.get_rank())
open('logs/same.txt', 'a').write('node %s\\n' % os.environ['NODE_RANK']) if os.environ['LOCAL_RANK'] == '0' else None
dist.barrier(); dist.destroy_process_group()
"""
ACCELERATED = """
import torch
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 4)), batch_size=4)
net, optimizer, data = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1), data)
for (x,) in data:
    loss = net(x).pow(2).mean()
    optimizer.zero_grad(); accelerator.backward(loss); optimizer.step()
with torch.no_grad():
    whole = net(torch.ones(8, 4)).pow(2).mean()
print('RANK', accelerator.process_index, 'OF', accelerator.num_processes, 'LOSS', whole.item(), flush=True)
accelerator.end_training()
"""
# Saves slower on rank 0 than elsewhere: whoever ends first must not take it along.
SAVES = """
import os, sys, time
from rookery.worker import checkpoint_dir, leave_for_resume, should_stop
rank = os.environ.get('OMPI_COMM_WORLD_RANK') or os.environ['RANK']
should_stop()
print('attempt', os.environ['ROOKERY_ATTEMPT'], flush=True)
open(os.path.join(checkpoint_dir(), 'up-' + os.environ['ROOKERY_ATTEMPT'] + '-' + rank), 'w').close()
if os.environ['ROOKERY_ATTEMPT'] == '1':
    while not should_stop():
        time.sleep(0.02)
    time.sleep(3.0 if rank == '0' else 0.0)
    open(os.path.join(checkpoint_dir(), 'saved-' + rank), 'w').close()
    print('saved', flush=True)
    leave_for_resume()
print('goes on after', [f for f in sorted(os.listdir(checkpoint_dir())) if f.startswith('saved')], flush=True)
"""


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def submit(ws, tmp_path):
    config = AmlCompute.provisioning_configuration(vm_size="", vm_priority="lowpriority", max_nodes=2)
    ComputeTarget.create(ws, "two", config)

    def submit(text, command=None, distributed=None, python=sys.executable):
        folder = tmp_path / "a source folder"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(text)
        environment = Environment("here")
        environment.python.user_managed_dependencies = True
        environment.python.interpreter_path = python
        what = {"command": command} if command else {"script": "train.py"}
        config = ScriptRunConfig(
            str(folder),
            compute_target="two",
            environment=environment,
            distributed_job_config=distributed or PyTorchConfiguration(node_count=2),
            **what,
        )
        return Experiment(ws, "launchers").submit(config)

    return submit


def logs_of(run):
    return run.get_details_with_logs()["logFiles"]


def rank_logs(run):
    return {int(re.search(r"_(\d+)\.txt", k).group(1)): v for k, v in logs_of(run).items() if "70_driver_log_" in k}


def exit_codes(run, attempt=0):
    nodes = run.get_details()["attempts"][attempt]["nodes"]
    return {r["rank"]: r["signal"] or r["exit_code"] for node in nodes for r in node["ranks"]}


def rookery(ws, *words):
    program = os.path.join(os.path.dirname(sys.executable), "rookery")
    return subprocess.run(
        [program, *words, "--workspace", ws.root], capture_output=True, text=True, timeout=180, check=True
    ).stdout


class TestTorchrun:
    def test_each_rank_has_its_log_and_its_exit_code(self, ws, submit):
        run = submit(SUM, f"{TORCHRUN} train.py")
        assert wait_for_end(run)["status"] == "Completed", run.get_details()["error"]
        for rank in range(4):
            said = rank_logs(run)[rank]
            assert said == f"RANK {rank} SUM 6 INDEX {rank // 2}\nsaid on stderr by {rank}\n"
            assert rookery(ws, "logs", run.id, "--rank", str(rank)) == said
        assert exit_codes(run) == dict.fromkeys(range(4), 0)
        merged = rookery(ws, "logs", run.id, "--all").splitlines()
        assert "[rank 3] RANK 3 SUM 6 INDEX 1" in merged
        assert len(merged) == 8
        names = run.get_file_names()
        assert {"azureml-logs/70_launcher_log_0.txt", "azureml-logs/70_launcher_log_1.txt"} <= set(names)
        assert (logs_of(run)["logs/same.txt"], logs_of(run)["logs/node-1/same.txt"]) == ("node 0\n", "node 1\n")

    def test_a_rank_that_fails_is_named_with_its_own_log(self, submit):
        text = SUM.replace("dist.barrier()", "os._exit(17) if dist.get_rank() == 3 else None; dist.barrier()")
        run = submit(text, f"python -m torch.distributed.launch --use_env --nproc_per_node 2 {MEETING} train.py")
        assert wait_for_end(run)["status"] == "Failed"
        cause = run.experiment.workspace.client.request("GET", f"/runs/{run.id}")["error"]
        assert (cause["rank"], cause["node"], cause["exit_code"]) == (3, 1, 17)
        assert cause["log"] == "azureml-logs/70_driver_log_3.txt"
        assert cause["last_lines"] == ["RANK 3 SUM 6 INDEX 1", "said on stderr by 3"]
        assert exit_codes(run)[3] == 17

    def test_redirects_of_its_own_are_left_alone(self, submit):
        run = submit(
            "import os; print('mine', os.environ['RANK'])",
            "torchrun --standalone --nproc_per_node 2 --log-dir outputs/ranks --redirects 3 train.py",
            PyTorchConfiguration(node_count=1),
        )
        assert wait_for_end(run)["status"] == "Completed", run.get_details()["error"]
        kept = [n for n in run.get_file_names() if n.startswith("outputs/ranks/") and n.endswith("stdout.log")]
        assert len(kept) == 2
        assert not [n for n in run.get_file_names() if "70_driver_log" in n]


class TestAccelerate:
    def test_two_nodes_with_two_processes_each(self, submit, tmp_path):
        python = make_accelerate(str(tmp_path / "with accelerate"))
        command = (
            "accelerate launch --multi_gpu --num_machines 2 --num_processes 4 --machine_rank $NODE_RANK "
            "--main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT --mixed_precision no train.py"
        )
        run = submit(ACCELERATED, command, python=python)
        assert wait_for_end(run, 300)["status"] == "Completed", run.get_details()["error"]
        found = [re.search(r"RANK (\d) OF 4 LOSS (\S+)", rank_logs(run)[rank]) for rank in range(4)]
        assert [m.group(1) for m in found] == ["0", "1", "2", "3"]
        assert len({m.group(2) for m in found}) == 1  # same weights everywhere
        assert exit_codes(run) == dict.fromkeys(range(4), 0)


class TestPreemption:
    @pytest.mark.parametrize("launcher", ["torchrun", "mpi"])
    def test_ranks_save_and_the_next_attempt_goes_on(self, ws, submit, launcher):
        if launcher == "mpi":
            ensure_openmpi()
            run = submit(SAVES, distributed=MpiConfiguration(2, 2))
        else:
            run = submit(SAVES, f"{TORCHRUN} train.py")
        deadline = time.monotonic() + 200
        while sum(text.count("attempt 1") for text in rank_logs(run).values()) < 4:
            assert time.monotonic() < deadline, logs_of(run)
            time.sleep(0.05)
        ComputeTarget(ws, "two").preempt(grace_s=60, away_s=0)
        assert wait_for_end(run)["status"] == "Completed", run.get_details()["error"]
        first, second = run.get_details()["attempts"]
        assert (first["result"], second["result"]) == ("lost", "completed")
        assert first["cause"]["kind"] == "Preempted"
        assert exit_codes(run) == dict.fromkeys(range(4), 85)
        everyone = [f"saved-{rank}" for rank in range(4)]
        for text in rank_logs(run).values():
            assert text == f"attempt 1\nsaved\nattempt 2\ngoes on after {everyone}\n"
