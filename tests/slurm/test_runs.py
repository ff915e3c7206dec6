"""Runs over a real Slurm, from submit to end: distributed training, and what may befall it."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap

import pytest

from rookery.engine.processes import all_pids, environment_of, is_running
from rookery.sdk import Environment, Experiment, Retries, ScriptRunConfig, SlurmCompute, Workspace
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.distributed import MpiConfiguration, PyTorchConfiguration
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import evidence, wait_for_end
from rookery.testing.openmpi import ensure_openmpi
from rookery.testing.stand_in import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

DDP = """
    import os, socket, torch, torch.distributed as dist
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
    print('RANK %d OF %d ON %s\\n' % (rank, world, socket.gethostname()), end='', flush=True)
    dist.barrier(); dist.destroy_process_group()
"""
MPI = """
    import os, socket
    print('RANK', os.environ['OMPI_COMM_WORLD_RANK'], 'OF', os.environ['OMPI_COMM_WORLD_SIZE'], 'ON', socket.gethostname())
"""
# Goes on where it stopped, and ends when a file `end` lies in the folder that is given.
STEPS = """
    import os, socket, sys, time
    from rookery.worker import checkpoint_dir, leave_for_resume, should_stop
    done = os.path.join(checkpoint_dir(), 'done-' + os.environ['ROOKERY_NODE'])
    step = int(open(done).read()) if os.path.exists(done) else 0
    print('ATTEMPT', os.environ['ROOKERY_ATTEMPT'], 'FROM', step, 'ON', socket.gethostname(), flush=True)
    while not os.path.exists(os.path.join(sys.argv[1], 'end')):
        if should_stop():
            leave_for_resume()
        step += 1
        with open(done + '.new', 'w') as f:
            f.write(str(step))
        os.replace(done + '.new', done)
        time.sleep(0.02)
    print('DONE', step, flush=True)
"""


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def submit(ws, machines, tmp_path):
    """Attach the cluster and submit a script to it."""

    def run(text, distributed=None, retries=0, **options):
        fields = {"conf": machines.conf, "cpus_per_node": 2, "node_home": machines.node_home, **options}
        target = ComputeTarget.attach(ws, "slurm", SlurmCompute.attach_configuration(**fields))
        folder = tmp_path / "a source folder"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(textwrap.dedent(text))
        here = Environment("here")
        here.python.user_managed_dependencies = True
        here.python.interpreter_path = sys.executable
        config = ScriptRunConfig(
            str(folder),
            script="train.py",
            arguments=[str(tmp_path)],
            compute_target=target,
            environment=here,
            distributed_job_config=distributed,
        )
        config.run_config.retries = Retries(lost_node=retries)
        return Experiment(ws, "slurm").submit(config)

    return run


def test_ddp_over_two_nodes(submit, machines):
    run = submit(DDP, PyTorchConfiguration("Gloo", process_count=4, node_count=2))
    _completes(run)
    lines = _lines(run, "RANK")
    assert sorted(line[1] for line in lines) == ["0", "1", "2", "3"]
    assert {line[5] for line in lines} == {"n0", "n1"}
    _nothing_is_left(machines, run)


def test_mpi_over_two_nodes(submit, machines):
    ensure_openmpi()
    run = submit(MPI, MpiConfiguration(process_count_per_node=2, node_count=2))
    _completes(run)
    lines = _lines(run, "RANK")
    assert sorted(line[1] for line in lines) == ["0", "1", "2", "3"]
    assert {line[5] for line in lines} == {"n0", "n1"}
    _nothing_is_left(machines, run)


def test_keeper_and_head_are_killed_and_the_run_is_found_again(submit, machines, ws, tmp_path):
    run = submit(STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
    _wait_for_start(run, 2)
    machines.kill_head()
    keeper = _read(WorkspacePaths(ws.root).endpoint)
    os.kill(keeper["pid"], signal.SIGKILL)
    wait_for(lambda: not is_running(keeper["pid"], keeper["start_ticks"]), "the end of the keeper")
    assert ws.client.request("GET", f"/runs/{run.id}")["status"] == "Running"  # starts another
    assert _read(WorkspacePaths(ws.root).endpoint)["pid"] != keeper["pid"]
    machines.start_head()
    (tmp_path / "end").write_text("")
    details = _completes(run)
    assert len(details["attempts"]) == 1
    assert len(_jobs(machines, run)) == 1
    _nothing_is_left(machines, run)


def test_a_dead_node_is_named_and_the_run_goes_on_elsewhere(submit, machines, tmp_path):
    run = submit(STEPS, retries=1)
    _wait_for_start(run, 1)
    lost = _lines(run, "ATTEMPT")[0][5]
    machines.kill_node(lost)
    wait_for(lambda: len(_lines(run, "ATTEMPT")) == 2, "another attempt", 90)
    (tmp_path / "end").write_text("")
    details = _completes(run)
    first, second = details["attempts"]
    assert first["result"] == "lost"
    assert f"Node {lost} of the Slurm cluster is down" in first["cause"]["summary"]
    assert second["result"] == "completed"
    again = _lines(run, "ATTEMPT")[1]
    assert int(again[3]) > 0, "it began anew"
    assert again[5] != lost
    _nothing_is_left(machines, run)


def test_a_cut_cable_ends_the_attempt_and_leaves_nothing(submit, machines, tmp_path):
    """Nodes share no files with the keeper here, as if they were far away."""
    run = submit(STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2), shared_files=False)
    _wait_for_start(run, 2)
    lost = machines.network["n1"]
    lost.cut()
    details = wait_for_end(run, 100)
    assert details["status"] == "Failed"
    assert "Node n1 of the Slurm cluster is down" in details["attempts"][0]["cause"]["summary"], details["attempts"]
    assert _marked(run), "the node that was cut off goes on by itself"
    lost.restore()
    _nothing_is_left(machines, run)


def test_a_time_limit_preempts_the_run_which_then_goes_on(submit, machines, tmp_path):
    run = submit(STEPS, retries=2, partition="short", signal_s=30)
    wait_for(lambda: len(_lines(run, "ATTEMPT")) == 2, "another attempt", 100)
    (tmp_path / "end").write_text("")
    details = _completes(run)
    first = details["attempts"][0]
    assert (first["result"], first["cause"]["kind"]) == ("lost", "Preempted")
    assert int(_lines(run, "ATTEMPT")[1][3]) > 0, "it began anew"
    _nothing_is_left(machines, run)


def _completes(run):
    details = wait_for_end(run)
    assert details["status"] == "Completed", evidence(run)
    return details


def _wait_for_start(run, count):
    try:
        wait_for(lambda: len(_lines(run, "ATTEMPT")) == count, "the ranks", 60)
    except AssertionError as error:
        raise AssertionError(evidence(run)) from error


def _lines(run, word):
    logs = run.get_details_with_logs()["logFiles"]
    text = "\n".join(value for name, value in sorted(logs.items()) if "70_driver_log" in name)
    return [line.split() for line in text.splitlines() if line.startswith(word)]


def _jobs(machines, run):
    lines = machines.run("squeue", "-h", "-t", "all", "-o", "%j").stdout.splitlines()
    return [line for line in lines if line.startswith(run.id)]


def _nothing_is_left(machines, run):
    """Not a process, not a job."""
    wait_for(lambda: machines.run("squeue", "-h").stdout == "", "an empty queue")
    wait_for(lambda: not _marked(run), "the end of all processes")


def _marked(run):
    """Processes of a run, on all nodes (which are namespaces of this machine)."""
    mark = f"ROOKERY_ATTEMPT_KEY={run.id}/".encode()
    return [pid for pid in all_pids() if any(v.startswith(mark) for v in environment_of(pid)) and is_running(pid, 0)]


def _read(path):
    with open(path) as f:
        return json.load(f)
