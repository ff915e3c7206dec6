"""Many nodes and very many runs: the controller looks at a few of them at a time, whatever their number."""

from __future__ import annotations

import pytest

from benchmarks.scale import fill
from rookery.engine import Controller
from rookery.testing.engine_exam import wait_for
from rookery.testing.fake_cluster import FakeCluster, Life, random_lives
from rookery.testing.fake_engine import FakeEngine
from tests.engine.fake_engine import FakeEngine as HereEngine


@pytest.fixture
def start(record, paths):
    made = []

    def make(num_nodes, life_of):
        cluster = FakeCluster(num_nodes, cpus=1, life_of=life_of)
        cluster.controller = Controller(
            record,
            paths,
            engine=HereEngine(),
            make_engine=lambda *args: FakeEngine(cluster),
            ensure_payload=lambda p: p.root,
        )
        made.append(cluster)
        cluster.controller.start()
        return cluster

    yield make
    for cluster in made:
        cluster.controller.stop()
        cluster.close()


class TestTick:
    def test_looks_at_as_many_runs_with_few_as_with_many_waiting(self, start, record, monkeypatch):
        fill(record, 3000, 20)
        cluster = start(20, lambda place: Life(3600.0))
        controller = cluster.controller
        wait_for(lambda: controller.compute("far")["queued_runs"] == 2980, "the queue")
        wait_for(lambda: controller.counts()["running_runs"] == 20, "the running ones")
        asked = 0
        get = controller._runs.get

        def count(run_id):
            nonlocal asked
            asked += 1
            return get(run_id)

        monkeypatch.setattr(controller._runs, "get", count)
        monkeypatch.setattr(controller._runs, "all", lambda: pytest.fail("all runs were walked over"))
        before = asked
        controller._loop.call(controller._tick)
        assert asked - before < 400
        assert controller.counts() == {"live_runs": 3000, "queued_runs": 2980, "running_runs": 20}


class TestOrder:
    @pytest.mark.slow
    def test_runs_go_first_come_first_served_to_their_end(self, start, record):
        fill(record, 300, 5)
        cluster = start(5, lambda place: Life(0.0))
        wait_for(lambda: cluster.controller.counts()["live_runs"] == 0, "the end of all", 120.0)
        assert cluster.placed == 300
        assert [key[0] for key in cluster.agents] == [f"many_{i}" for i in range(300)]  # in the order of their start

    def test_deaths_at_random_leave_nothing_behind(self, start, record):
        fill(record, 60, 10)
        cluster = start(10, random_lives(7, 0.01, 0.2))
        here = cluster.controller._engines.here

        def play_finishers():
            for place in list(here.placed):  # what dead agents left in shared files is stored from here
                if place in here.alive:
                    here.alive.discard(place)
                    cluster.controller.agent_finished(place.run_id, place.attempt, place.node, {"warnings": []})
            return cluster.controller.counts()["live_runs"] == 0

        wait_for(play_finishers, "the end of all", 120.0)
        found = cluster.controller.compute("far")
        assert (found["running_runs"], found["queued_runs"]) == (0, 0)
        wait_for(lambda: not any(agent.is_alive for agent in cluster.agents.values()), "the end of the agents")
        assert all(machine.used == 0 for machine in cluster.machines.values())
        statuses = [record.runs.get(f"many_{i}")["status"] for i in range(60)]
        assert set(statuses) == {"Completed", "Failed"}
