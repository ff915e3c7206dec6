"""A cluster that scales: Ray's own autoscaler brings the nodes that a gang waits for; what it never could bring is refused."""

from __future__ import annotations

import json
import re

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.ray import RayEngine
from rookery.engine.engines.ray.bridge.scaler import config_path, kind_of, still, told_kinds
from rookery.errors import ComputeError
from rookery.sdk import RayCompute, Workspace
from rookery.sdk.compute import ComputeTarget
from rookery.sdk.distributed import PyTorchConfiguration
from rookery.spec.compute import ClusterSpec
from rookery.testing.cluster_runs import STEPS, completes, marked, submit_script, wait_for_start
from rookery.testing.engine_exam import Deaths, stand_in_boot, wait_for
from rookery.testing.ray_cluster import RayCluster

BOX = {"resources": {"CPU": 2, "object_store_memory": 80_000_000}, "max_workers": 2}
LIMIT_S = 300.0  # raylets are slow to start on a busy machine


@pytest.fixture
def cluster():
    """A head alone, on which a gang does not fit."""
    with RayCluster(num_nodes=1, cpus=1, own_pids=True, scales={"box": BOX}) as made:
        yield made


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_run_waits_for_nodes_that_the_autoscaler_brings(cluster, tmp_path):
    """From submit to end; through Ray Client, so that the autoscaler is asked about from the head."""
    ws = Workspace.create("nest")
    given = RayCompute.attach_configuration(**cluster.options, cpus_per_node=2, gpus_per_node=0)
    target = ComputeTarget.attach(ws, "ray", given)
    with pytest.raises(ComputeError, match=r"adds up to 2 x box \(2 CPUs\)\. At most 2 fit\."):
        submit_script(ws, target, tmp_path, STEPS, PyTorchConfiguration("Gloo", process_count=3, node_count=3))
    run = submit_script(ws, target, tmp_path, STEPS, PyTorchConfiguration("Gloo", process_count=2, node_count=2))
    asked = "Ray's autoscaler was asked for more nodes"
    said: set[str] = set()

    def says_so():
        told = ws.client.request("GET", f"/runs/{run.id}")
        said.add(f"{told['status']}: {told['reason']}")
        return any(asked in words for words in said)

    try:
        wait_for(says_so, "that it says so", LIMIT_S)
    except AssertionError as error:
        raise AssertionError(f"it said only {said}") from error
    wait_for_start(run, 2)
    (tmp_path / "end").write_text("")
    completes(run)
    wait_for(lambda: not marked(run), "the end of all processes", LIMIT_S)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_the_autoscaler_has_brought_is_not_counted_twice(cluster, tmp_path):
    """The engine alone, its bridge a driver on the head."""
    spec = ClusterSpec(engine="ray", max_nodes=0, cpus_per_node=2, gpus_per_node=0, options=cluster.driver_options)
    engine, deaths = RayEngine("scaled", spec, stand_in_boot, str(tmp_path)), Deaths()
    engine.start(deaths)
    try:
        _scales(engine, deaths, spec, [_place(tmp_path, node) for node in range(2)])
    finally:
        engine.stop()


def _scales(engine, deaths, spec, gang):
    assert [node.cpus for node in engine.nodes()] == [1]  # the head alone
    # The cluster may have been counted before its autoscaler was up.
    wait_for(lambda: engine.num_addable() == 2, "what the autoscaler may add", LIMIT_S)
    engine.check(2, spec)
    assert not _fits(engine, 3, spec)
    with pytest.raises(ComputeError, match="At most 2 fit"):
        engine.place([Place("more", 1, node, gang[0].root, "scaled") for node in range(3)])

    engine.place(gang)
    words = engine.waiting(gang[0])
    assert re.search(r"Ray's autoscaler was asked for more nodes \([12] x box \(2 CPUs\)\)$", words), words
    for place in gang:
        wait_for(lambda place=place: _told(place), "an agent on a node that was not there", LIMIT_S)
    wait_for(lambda: all(engine.waiting(place) == "" for place in gang), "that it is known to run", LIMIT_S)

    boxes = [("running", 0), ("running", 0)]  # state and free cores
    wait_for(lambda: [(n.state, n.free_cpus) for n in engine.nodes() if n.cpus == 2] == boxes, "two nodes", LIMIT_S)
    # What is there is not added once more; the autoscaler tells whose nodes they are when its round is over.
    wait_for(
        lambda: not _fits(engine, 3, spec) and engine.num_addable() == 0, "that they are known as its own", LIMIT_S
    )

    for place in gang:
        engine.kill(place)
    wait_for(lambda: all(deaths.of(place) for place in gang), "its end", LIMIT_S)
    wait_for(lambda: all(n.free_cpus == n.cpus for n in engine.nodes()), "that Ray has its nodes back", LIMIT_S)


def _fits(engine, count, spec):
    try:
        engine.check(count, spec)
    except ComputeError:
        return False
    return True


def _place(folder, node):
    root = folder / f"node-{node}"
    root.mkdir()
    (root / "job.json").write_text(json.dumps({"key": "run/1", "node": node}))
    return Place("run", 1, node, str(root), "scaled")


def _told(place):
    try:
        with open(f"{place.root}/up.json") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


class TestScaler:
    def test_reads_the_kinds_and_their_limits(self):
        types = {"head": {"resources": {"CPU": 1}}, "box": {"resources": {"CPU": 4}}, "gpu": {"max_workers": 1}}
        told = told_kinds({"max_workers": 3, "head_node_type": "head", "available_node_types": types})
        assert [(k["name"], k["max"], k["shared"]) for k in told] == [("box", 3, 3), ("gpu", 1, 3)]
        assert told_kinds({"available_node_types": {"box": {}}})[0]["max"] == 2  # Ray's default

    def test_takes_off_what_is_there(self):
        kinds = [{"name": "box", "max": 3, "shared": 4}, {"name": "gpu", "max": -1, "shared": 4}]
        left = still(kinds, ["box", "gpu", "", "another"])
        assert [(k["max"], k["shared"]) for k in left] == [(2, 2), (-1, 2)]

    def test_knows_a_node_by_its_label_its_id_or_its_address(self):
        node = {"NodeID": "a", "NodeManagerAddress": "10.0.0.1"}
        assert kind_of({**node, "Labels": {"ray.io/node-group": "gpu"}}, {"a": "box"}) == "gpu"
        assert kind_of(node, {"a": "box"}) == kind_of(node, {"10.0.0.1": "box"}) == "box"
        assert kind_of(node, {}) == ""

    def test_finds_the_file_of_its_own_cluster_only(self, tmp_path):
        for pid, address in (("7", "10.0.0.1:6379"), ("8", "10.0.0.2:6379")):
            (tmp_path / pid).mkdir()
            words = ["python", "monitor.py", f"--gcs-address={address}", f"--autoscaling-config=/of-{pid}.yaml", ""]
            (tmp_path / pid / "cmdline").write_text("\0".join(words))
        assert config_path("10.0.0.2:6379", str(tmp_path)) == "/of-8.yaml"
        assert config_path("10.0.0.3:6379", str(tmp_path)) == ""
