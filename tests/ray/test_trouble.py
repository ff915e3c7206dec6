"""What the engine says and does when Ray, the bridge or a node is not as it should be."""

from __future__ import annotations

import contextlib
import json
import os
import signal

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.ray import RayEngine
from rookery.engine.processes import command_line, is_running
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.testing.engine_exam import Deaths, stand_in_boot, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def make(ray_cluster, tmp_path):
    """A started engine with its deaths: as a driver, which is quick; with options of its own through Ray Client."""
    engines = []

    def start(options=None, reach=None, **fields):
        options = {**ray_cluster.options, **options} if options else ray_cluster.driver_options
        fields = {"max_nodes": 3, "cpus_per_node": 1, "gpus_per_node": 0, **fields}
        spec = ClusterSpec(engine="ray", options=options, reach=reach or Reach(), **fields)
        folder = tmp_path / "state"
        folder.mkdir(exist_ok=True)
        engine, deaths = RayEngine("trouble", spec, stand_in_boot, str(folder)), Deaths()
        engine.start(deaths)
        engines.append(engine)
        return engine, deaths

    yield start
    for engine in engines:
        for gang in list(engine._gangs.values()):
            for agent in gang.agents:
                engine.kill(agent.place)
        wait_for(lambda engine=engine: not engine._gangs or not engine._is_connected, "the end of all agents")
        engine.stop()


@pytest.fixture
def place(tmp_path):
    def make(node=0, **job):
        root = tmp_path / f"node-{node}"
        root.mkdir()
        (root / "job.json").write_text(json.dumps({"key": "run/1", "node": node, **job}))
        return Place("run", 1, node, str(root), "trouble")

    return make


@pytest.fixture
def up(ray_cluster):
    """Waits for what a stand-in agent writes; its process has the number of this side."""

    def read(place, name):
        try:
            with open(os.path.join(place.root, name)) as f:
                return ray_cluster.here(json.load(f))
        except (OSError, ValueError):
            return None

    return lambda place, name="up.json": wait_for(lambda: read(place, name), "an agent", 90)


class TestReaching:
    def test_says_that_nobody_is_there(self, make, ray_cluster):
        engine, _ = make({"address": f"ray://{ray_cluster.head.address}:10009"})
        with pytest.raises(ComputeError, match="Nothing answers at ray://"):
            engine.nodes()

    def test_says_what_a_machine_outside_the_cluster_needs(self, make, ray_cluster):
        engine, _ = make({"address": f"{ray_cluster.head.address}:6379"})
        assert len(engine.nodes()) == 3  # through Ray Client on the same host

    def test_says_that_the_token_is_missing_or_wrong(self, make, ray_cluster, tmp_path):
        engine, _ = make({"token_path": str(tmp_path / "none")})
        with pytest.raises(ComputeError, match="token of the Ray cluster is not there"):
            engine.nodes()
        (tmp_path / "wrong").write_text("f" * 64)
        # As a driver: Ray Client is told nothing and only gives up after a long time.
        engine, _ = make({**ray_cluster.driver_options, "token_path": str(tmp_path / "wrong")})
        with pytest.raises(ComputeError, match="token"):
            engine.nodes()

    def test_says_that_an_interpreter_has_no_ray(self, make):
        engine, _ = make({"bridge_python": "/bin/false"})
        with pytest.raises(ComputeError, match="has died"):
            engine.nodes()


class TestAgents:
    def test_sees_the_gpus_of_its_reservation(self, make, place, up):
        engine, _ = make(gpus_per_node=1)
        one = place()
        engine.place([one])
        assert up(one)["env"]["CUDA_VISIBLE_DEVICES"] in ("0", "1")

    def test_sees_no_gpu_that_it_did_not_reserve(self, make, place, up):
        engine, _ = make()
        one = place()
        engine.place([one])
        assert up(one)["env"]["CUDA_VISIBLE_DEVICES"] == ""

    def test_names_a_python_that_nodes_do_not_have(self, make, place):
        engine, deaths = make(reach=Reach(python="python9"))
        one = place()
        engine.place([one])
        death = wait_for(lambda: deaths.of(one), "its end")[0]
        assert "'python9' is not on the PATH" in death.reason

    def test_lives_on_when_the_bridge_is_killed(self, make, place, up):
        engine, deaths = make()
        one = place()
        engine.place([one])
        process = up(one)
        wait_for(lambda: engine.waiting(one) == "", "that it is known to run")
        bridge = engine._supervisor._process
        for pid in _children(bridge.pid):  # what is started is the way onto the head
            os.kill(pid, signal.SIGKILL)
        wait_for(
            lambda: engine._supervisor._process not in (None, bridge) and engine._is_connected, "another bridge", 90
        )
        assert is_running(process["pid"], process["start_ticks"])
        engine.kill(one)
        wait_for(lambda: deaths.of(one), "its end")
        assert deaths.of(one)[0].signal == "SIGKILL"

    def test_ends_with_its_worker_and_with_all_it_started(self, make, place, up, ray_cluster):
        """As when a raylet is killed: nothing has the time to say good-bye."""
        engine, deaths = make()
        one = place(child=True)
        engine.place([one])
        process = up(one)
        child = up(one, "child.json")
        pids = [pid for node in ray_cluster.network for pid in node.pids()]
        workers = [pid for pid in pids if "ray::NodeActor" in "".join(command_line(pid)[:1])]
        assert workers
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):  # one that an earlier test has left is ending
                os.kill(pid, signal.SIGKILL)
        death = wait_for(lambda: deaths.of(one), "its end")[0]
        assert "has died" in death.reason
        wait_for(lambda: not is_running(process["pid"], process["start_ticks"]), "the end of the agent")
        wait_for(lambda: not is_running(child["pid"], 0), "the end of its child")

    def test_dies_with_its_guard(self, make, place, up):
        engine, deaths = make()
        one = place()
        engine.place([one])
        process = up(one)
        os.kill(_parent(process["pid"]), signal.SIGKILL)
        wait_for(lambda: not is_running(process["pid"], process["start_ticks"]), "the end of the agent")
        death = wait_for(lambda: deaths.of(one), "its end")[0]
        assert "guard" in death.reason


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(child) for child in f.read().split()]


def _parent(pid):
    with open(f"/proc/{pid}/stat") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])
