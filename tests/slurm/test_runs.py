"""Runs over a real Slurm, from submit to end: distributed training, and what may befall it."""

from __future__ import annotations

import pytest

from rookery.sdk import SlurmCompute, Workspace
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.distributed import MpiConfiguration, PyTorchConfiguration
from rookery.testing.cluster_runs import (
    DDP,
    MPI,
    STEPS,
    check_delivery,
    completes,
    kill_keeper,
    lines,
    marked,
    submit_script,
    wait_for_start,
)
from rookery.testing.ending import wait_for_end
from rookery.testing.openmpi import ensure_openmpi
from rookery.testing.stand_in import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def submit(ws, machines, tmp_path):
    """Attach the cluster and submit a script to it."""

    def run(text, distributed=None, retries=0, arguments=(), **options):
        fields = {"conf": machines.conf, "cpus_per_node": 2, "node_home": machines.node_home, **options}
        target = ComputeTarget.attach(ws, "slurm", SlurmCompute.attach_configuration(**fields))
        return submit_script(ws, target, tmp_path, text, distributed, retries, arguments)

    return run


def test_ddp_over_two_nodes(submit, machines):
    run = submit(DDP, PyTorchConfiguration("Gloo", process_count=4, node_count=2))
    completes(run)
    found = lines(run, "RANK")
    assert sorted(line[1] for line in found) == ["0", "1", "2", "3"]
    assert {line[5] for line in found} == {"n0", "n1"}
    _nothing_is_left(machines, run)


def test_mpi_over_two_nodes(submit, machines):
    ensure_openmpi()
    run = submit(MPI, MpiConfiguration(process_count_per_node=2, node_count=2))
    completes(run)
    found = lines(run, "RANK")
    assert sorted(line[1] for line in found) == ["0", "1", "2", "3"]
    assert {line[5] for line in found} == {"n0", "n1"}
    _nothing_is_left(machines, run)


def test_data_is_fetched_once_per_machine_and_comes_back(submit, machines, ws):
    ranks = PyTorchConfiguration("Gloo", process_count=4, node_count=2)
    run = check_delivery(
        ws, machines.hidden, lambda text, given: submit(text, ranks, arguments=given, shared_files=False)
    )
    _nothing_is_left(machines, run)


def test_keeper_and_head_are_killed_and_the_run_is_found_again(submit, machines, ws, tmp_path):
    run = submit(STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
    wait_for_start(run, 2)
    machines.kill_head()
    killed = kill_keeper(ws)
    assert ws.client.request("GET", f"/runs/{run.id}")["status"] == "Running"  # starts another
    assert ws.client.request("GET", "/keeper")["pid"] != killed
    machines.start_head()
    (tmp_path / "end").write_text("")
    details = completes(run)
    assert len(details["attempts"]) == 1
    assert len(_jobs(machines, run)) == 1
    _nothing_is_left(machines, run)


def test_a_dead_node_is_named_and_the_run_goes_on_elsewhere(submit, machines, tmp_path):
    run = submit(STEPS, retries=1)
    wait_for_start(run, 1)
    lost = lines(run, "ATTEMPT")[0][5]
    machines.kill_node(lost)
    wait_for(lambda: len(lines(run, "ATTEMPT")) == 2, "another attempt", 240)
    (tmp_path / "end").write_text("")
    details = completes(run)
    first, second = details["attempts"]
    assert first["result"] == "lost"
    assert f"Node {lost} of the Slurm cluster is down" in first["cause"]["summary"]
    assert second["result"] == "completed"
    again = lines(run, "ATTEMPT")[1]
    assert int(again[3]) > 0, "it began anew"
    assert again[5] != lost
    _nothing_is_left(machines, run)


def test_a_cut_cable_ends_the_attempt_and_leaves_nothing(submit, machines, tmp_path):
    """Nodes share no files with the keeper here, as if they were far away."""
    run = submit(STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2), shared_files=False)
    wait_for_start(run, 2)
    lost = machines.network["n1"]
    lost.cut()
    details = wait_for_end(run, 180)
    assert details["status"] == "Failed"
    assert "Node n1 of the Slurm cluster is down" in details["attempts"][0]["cause"]["summary"], details["attempts"]
    assert marked(run), "the node that was cut off goes on by itself"
    lost.restore()
    _nothing_is_left(machines, run)


def test_a_time_limit_preempts_the_run_which_then_goes_on(submit, machines, tmp_path):
    run = submit(STEPS, retries=2, partition="short", signal_s=30)
    wait_for(lambda: len(lines(run, "ATTEMPT")) == 2, "another attempt", 240)
    (tmp_path / "end").write_text("")
    details = completes(run)
    first = details["attempts"][0]
    assert (first["result"], first["cause"]["kind"]) == ("lost", "Preempted")
    assert int(lines(run, "ATTEMPT")[1][3]) > 0, "it began anew"
    _nothing_is_left(machines, run)


def _jobs(machines, run):
    lines = machines.run("squeue", "-h", "-t", "all", "-o", "%j").stdout.splitlines()
    return [line for line in lines if line.startswith(run.id)]


def _nothing_is_left(machines, run):
    """Not a process, not a job."""
    wait_for(lambda: machines.run("squeue", "-h").stdout == "", "an empty queue")
    wait_for(lambda: not marked(run), "the end of all processes")
