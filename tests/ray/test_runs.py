"""Runs over a real Ray cluster through a real keeper, from submit to end: distributed training, and what may befall it."""

from __future__ import annotations

import json
import os

import pytest

from rookery.sdk import RayCompute, Workspace
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.distributed import MpiConfiguration, PyTorchConfiguration
from rookery.spec.paths import WorkspacePaths
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
from rookery.testing.ray_cluster import RayCluster
from rookery.testing.stand_in import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

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

    def run(cluster, text, distributed=None, retries=0, options=None, arguments=(), **reach):
        given = RayCompute.attach_configuration(**(options or cluster.options), gpus_per_node=0, **reach)
        target = ComputeTarget.attach(ws, "ray", given)
        return submit_script(ws, target, tmp_path, text, distributed, retries, arguments)

    return run


def test_ddp_over_two_nodes(submit, ray_cluster):
    run = submit(ray_cluster, DDP, PyTorchConfiguration("Gloo", process_count=4, node_count=2))
    completes(run)
    found = lines(run, "RANK")
    assert sorted(line[1] for line in found) == ["0", "1", "2", "3"]
    assert len({line[5] for line in found}) == 2
    _nothing_is_left(run)


def test_mpi_over_two_nodes_and_ray_keeps_nothing(submit, ray_cluster):
    ensure_openmpi()
    distributed = MpiConfiguration(process_count_per_node=2, node_count=2)
    run = submit(ray_cluster, MPI, distributed, options=ray_cluster.driver_options)
    completes(run)
    found = lines(run, "RANK")
    assert sorted(line[1] for line in found) == ["0", "1", "2", "3"]
    assert len({line[5] for line in found}) == 2
    _nothing_is_left(run)
    wait_for(lambda: ray_cluster.run(LEFT).split("\n")[:2] == ["ACTORS []", "GROUPS []"], "an empty cluster", 120)


def test_data_is_fetched_once_per_machine_and_comes_back(submit, ray_cluster, ws):
    ranks = PyTorchConfiguration("Gloo", process_count=4, node_count=2)
    reach = {"shared_files": False, "node_home": ray_cluster.node_home}
    run = check_delivery(
        ws, ray_cluster.hidden, lambda text, given: submit(ray_cluster, text, ranks, arguments=given, **reach)
    )
    _nothing_is_left(run)


def test_a_keeper_that_was_killed_finds_the_run_again(submit, ray_cluster, ws, tmp_path):
    run = submit(ray_cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
    wait_for_start(run, 2)
    killed = kill_keeper(ws)
    assert ws.client.request("GET", f"/runs/{run.id}")["status"] == "Running"  # starts another
    assert ws.client.request("GET", "/keeper")["pid"] != killed
    (tmp_path / "end").write_text("")
    details = completes(run)
    assert len(details["attempts"]) == 1
    _nothing_is_left(run)


def test_a_dead_node_is_named_and_the_run_goes_on_elsewhere(submit, ray_cluster, tmp_path):
    run = submit(ray_cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2), retries=1)
    wait_for_start(run, 2)
    lost = max(line[5] for line in lines(run, "ATTEMPT"))  # the head is r0, and comes first
    ray_cluster.kill_node(lost)
    try:
        wait_for(lambda: len(lines(run, "ATTEMPT")) == 4, "another attempt", 240)
        (tmp_path / "end").write_text("")
        details = completes(run)
    finally:
        ray_cluster.start_node(lost)
    first, second = details["attempts"]
    assert first["result"] == "lost"
    assert f"Node {lost}" in first["cause"]["summary"], first
    assert second["result"] == "completed"
    again = [line for line in lines(run, "ATTEMPT") if line[1] == "2"]
    assert all(int(line[3]) > 0 for line in again), "it began anew"
    assert lost not in {line[5] for line in again}
    _nothing_is_left(run)


@pytest.mark.parametrize("shared", [False, True])
def test_a_cut_cable_ends_the_attempt_and_leaves_nothing(submit, ray_cluster, tmp_path, shared):
    """Without shared files what lies on the cut node can be fetched by nobody; with them its processes are seen from here,
    where nodes are namespaces of one machine, and are not ours to end. The run ends all the same, and says why."""
    reach = {"shared_files": shared, "node_home": str(tmp_path / "a node's home")}
    run = submit(ray_cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2), **reach)
    wait_for_start(run, 2)
    lost = max(line[5] for line in lines(run, "ATTEMPT"))
    ray_cluster.network[lost].cut()
    try:
        details = wait_for_end(run, 180)
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
    soon = {"RAY_gcs_rpc_server_reconnect_timeout_s": "4"}  # raylets leave a dead head
    with RayCluster(num_nodes=2, own_pids=True, variables=soon) as cluster:
        run = submit(cluster, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
        wait_for_start(run, 2)
        cluster.kill_node("r0")
        details = wait_for_end(run, 180)
        assert details["status"] == "Failed"
        assert "Ray" in json.dumps(details["attempts"][0]["cause"]), details["attempts"]
        _nothing_is_left(run)


def _nothing_is_left(run, timeout_s=120.0):
    wait_for(lambda: not marked(run), "the end of all processes", timeout_s)
    notes = os.path.join(WorkspacePaths(run.experiment.workspace.root).engine_state("ray"), "gangs")
    wait_for(lambda: os.listdir(notes) == [], "that Ray has its nodes back", timeout_s)
