"""Runs over a real Ray cluster through a real keeper, from submit to end: distributed training, and what may befall it."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap

import pytest

from rookery.engine.processes import all_pids, environment_of, is_running
from rookery.sdk import Environment, Experiment, RayCompute, Retries, ScriptRunConfig, Workspace
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.distributed import MpiConfiguration, PyTorchConfiguration
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import evidence, wait_for_end
from rookery.testing.openmpi import ensure_openmpi
from rookery.testing.ray_cluster import RayCluster
from rookery.testing.stand_in import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

DDP = """
    import socket, torch, torch.distributed as dist
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
    from rookery.worker import checkpoint_dir
    done = os.path.join(checkpoint_dir(), 'done-' + os.environ['ROOKERY_NODE'])
    step = int(open(done).read()) if os.path.exists(done) else 0
    print('ATTEMPT', os.environ['ROOKERY_ATTEMPT'], 'FROM', step, 'ON', socket.gethostname(), flush=True)
    while not os.path.exists(os.path.join(sys.argv[1], 'end')):
        step += 1
        with open(done + '.new', 'w') as f:
            f.write(str(step))
        os.replace(done + '.new', done)
        time.sleep(0.05)
    print('DONE', step, flush=True)
"""
LEFT = """
import ray
from ray.util import list_named_actors, placement_group_table
ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
print("ACTORS", [a["name"] for a in list_named_actors(all_namespaces=True)])
print("GROUPS", [g["name"] for g in placement_group_table().values() if g["state"] != "REMOVED"])
"""


@pytest.fixture(scope="module", autouse=True)
def cleared(ray_cluster):
    """The last agents of the exam wait for a keeper that asks for them; these runs want whole nodes."""
    ray_cluster.clear()


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def submit(ws, tmp_path):
    """Attach a cluster and submit a script to it."""

    def run(cluster, text, distributed=None, retries=0, options=None, **reach):
        given = RayCompute.attach_configuration(**(options or cluster.options), gpus_per_node=0, **reach)
        target = ComputeTarget.attach(ws, "ray", given)
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
        return Experiment(ws, "ray").submit(config)

    return run


def test_ddp_over_two_nodes(submit, ray_cluster):
    run = submit(ray_cluster, DDP, PyTorchConfiguration("Gloo", process_count=4, node_count=2))
    _completes(run)
    lines = _lines(run, "RANK")
    assert sorted(line[1] for line in lines) == ["0", "1", "2", "3"]
    assert len({line[5] for line in lines}) == 2
    _nothing_is_left(run)


def test_mpi_over_two_nodes_and_ray_keeps_nothing(submit, ray_cluster):
    ensure_openmpi()
    distributed = MpiConfiguration(process_count_per_node=2, node_count=2)
    run = submit(ray_cluster, MPI, distributed, options=ray_cluster.driver_options)
    _completes(run)
    lines = _lines(run, "RANK")
    assert sorted(line[1] for line in lines) == ["0", "1", "2", "3"]
    assert len({line[5] for line in lines}) == 2
    _nothing_is_left(run)
    wait_for(lambda: ray_cluster.run(LEFT).split("\n")[:2] == ["ACTORS []", "GROUPS []"], "an empty cluster")


def test_a_keeper_that_was_killed_finds_the_run_again(submit, ray_cluster, ws, tmp_path):
    run = submit(ray_cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
    _wait_for_start(run, 2)
    keeper = _read(WorkspacePaths(ws.root).endpoint)
    os.kill(keeper["pid"], signal.SIGKILL)
    wait_for(lambda: not is_running(keeper["pid"], keeper["start_ticks"]), "the end of the keeper")
    assert ws.client.request("GET", f"/runs/{run.id}")["status"] == "Running"  # starts another
    assert _read(WorkspacePaths(ws.root).endpoint)["pid"] != keeper["pid"]
    (tmp_path / "end").write_text("")
    details = _completes(run)
    assert len(details["attempts"]) == 1
    _nothing_is_left(run)


def test_a_dead_node_is_named_and_the_run_goes_on_elsewhere(submit, ray_cluster, tmp_path):
    run = submit(ray_cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2), retries=1)
    _wait_for_start(run, 2)
    lost = max(line[5] for line in _lines(run, "ATTEMPT"))  # the head is r0, and comes first
    ray_cluster.kill_node(lost)
    try:
        wait_for(lambda: len(_lines(run, "ATTEMPT")) == 4, "another attempt", 100)
        (tmp_path / "end").write_text("")
        details = _completes(run)
    finally:
        ray_cluster.start_node(lost)
    first, second = details["attempts"]
    assert first["result"] == "lost"
    assert f"Node {lost}" in first["cause"]["summary"], first
    assert second["result"] == "completed"
    again = [line for line in _lines(run, "ATTEMPT") if line[1] == "2"]
    assert all(int(line[3]) > 0 for line in again), "it began anew"
    assert lost not in {line[5] for line in again}
    _nothing_is_left(run)


@pytest.mark.parametrize("shared", [False, True])
def test_a_cut_cable_ends_the_attempt_and_leaves_nothing(submit, ray_cluster, tmp_path, shared):
    """Without shared files what lies on the cut node can be fetched by nobody; with them its processes are seen from here,
    where nodes are namespaces of one machine, and are not ours to end. The run ends all the same, and says why."""
    reach = {"shared_files": shared, "node_home": str(tmp_path / "a node's home")}
    run = submit(ray_cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2), **reach)
    _wait_for_start(run, 2)
    lost = max(line[5] for line in _lines(run, "ATTEMPT"))
    ray_cluster.network[lost].cut()
    try:
        details = wait_for_end(run, 120)
    finally:
        ray_cluster.network[lost].restore()
    try:
        assert details["status"] == "Failed"
        assert lost in details["attempts"][0]["cause"]["summary"], details["attempts"]
        _nothing_is_left(run)  # Ray ends its part of a node that comes back after it was given up
    finally:
        ray_cluster.network[lost].kill_processes()
        ray_cluster.start_node(lost)


def test_a_dead_head_ends_the_run_and_leaves_nothing(submit):
    with RayCluster(num_nodes=2, own_pids=True) as cluster:
        run = submit(cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
        _wait_for_start(run, 2)
        cluster.kill_node("r0")
        details = wait_for_end(run, 150)
        assert details["status"] == "Failed"
        assert "Ray" in json.dumps(details["attempts"][0]["cause"]), details["attempts"]
        _nothing_is_left(run, 60)


def _completes(run):
    details = wait_for_end(run)
    assert details["status"] == "Completed", evidence(run)
    return details


def _wait_for_start(run, count):
    try:
        wait_for(lambda: len(_lines(run, "ATTEMPT")) == count, "the ranks", 90)
    except AssertionError as error:
        raise AssertionError(evidence(run)) from error


def _lines(run, word):
    logs = run.get_details_with_logs()["logFiles"]
    text = "\n".join(value for name, value in sorted(logs.items()) if "70_driver_log" in name)
    return [line.split() for line in text.splitlines() if line.startswith(word)]


def _nothing_is_left(run, timeout_s=30.0):
    mark = f"ROOKERY_ATTEMPT_KEY={run.id}/".encode()

    def left():
        return [
            pid for pid in all_pids() if any(v.startswith(mark) for v in environment_of(pid)) and is_running(pid, 0)
        ]

    wait_for(lambda: not left(), "the end of all processes", timeout_s)
    notes = os.path.join(WorkspacePaths(run.experiment.workspace.root).engine_state("ray"), "gangs")
    wait_for(lambda: os.listdir(notes) == [], "that Ray has its nodes back", timeout_s)


def _read(path):
    with open(path) as f:
        return json.load(f)
