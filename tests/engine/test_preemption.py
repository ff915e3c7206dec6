"""Nodes that are taken away, and runs that go on with fewer: the controller over an engine whose agents the tests play."""

from __future__ import annotations

import time

import pytest

from rookery.engine.jobs import read_job
from rookery.errors import ComputeError, ComputeNotFoundError, UserError
from rookery.spec.compute import ClusterSpec
from rookery.testing.engine_exam import wait_for

SPOT = ClusterSpec(vm_priority="lowpriority", max_nodes=1)
TAKEN = {"kind": "Preempted", "summary": "Node 'spot-0' was preempted."}


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setenv("ROOKERY_PREEMPTED_S", "0")
    monkeypatch.setenv("ROOKERY_ELASTIC_WAIT_S", "0.2")


def states(house, name="spot"):
    return [n["state"] for n in house.controller.nodes(name)]


@pytest.fixture
def ticks(house, monkeypatch):
    """Grows with every tick of the controller's clock: how many runs were under way."""
    seen, look = [], house.controller._desk.look
    monkeypatch.setattr(
        house.controller._desk, "look", lambda: seen.append(house.controller.counts()["live_runs"]) or look()
    )
    return seen


class TestPreempt:
    def test_tells_the_agent_and_queues_the_run_again(self, house):
        house.controller.create_compute("spot", SPOT)
        run_id = house.submit(compute="spot")
        house.start_ranks(run_id)
        taken = house.controller.preempt("spot", grace_s=7.0)
        assert taken == {"node": "spot-0", "run_id": run_id, "grace_s": 7.0, "away_s": 0.0}
        assert states(house) == ["leaving"]
        assert "being preempted" in house.reason(run_id)
        told = {"n": 1, "command": "preempt", "grace_s": 7.0, "node": 0, "name": "spot-0"}
        assert house.controller.commands(run_id, 1, 0, 0) == [told]
        assert house.controller.commands(run_id, 1, 0, 1) == []
        house.finish(run_id, "lost", cause=TAKEN)
        house.wait_placed(run_id, times=2)
        house.start_ranks(run_id, attempt=2)
        house.finish(run_id, attempt=2)
        run = house.record.runs.get(run_id)
        assert run["status"] == "Completed"
        assert [(a["attempt"], a["result"]) for a in run["attempts"]] == [(1, "lost"), (2, "completed")]
        assert all(a["started_utc"] <= a["ended_utc"] for a in run["attempts"])

    def test_survives_a_keeper_that_is_killed(self, house):
        house.controller.create_compute("spot", SPOT)
        run_id = house.submit(compute="spot")
        house.start_ranks(run_id)
        house.controller.preempt("spot", grace_s=7.0)
        house.restart()
        assert states(house) == ["leaving"]
        assert house.controller.commands(run_id, 1, 0, 0)[0]["command"] == "preempt"

    def test_a_node_comes_back_though_the_clock_had_been_asked_for_much_later(self, house, ticks):
        """Between two runs only an idle node that may go in an hour needs the clock. The next run must not wait for that."""
        house.controller.create_compute(
            "spot", ClusterSpec(vm_priority="lowpriority", max_nodes=1, idle_seconds_before_scaledown=3600)
        )
        first = house.submit(compute="spot")
        house.start_ranks(first)
        ticks.clear()
        house.finish(first)
        wait_for(lambda: 0 in ticks, "a tick with nothing under way")
        second = house.submit(compute="spot")
        house.start_ranks(second)
        house.controller.preempt("spot", away_s=0.2)
        house.finish(second, "lost", cause=TAKEN)
        house.wait_placed(second, times=2)

    def test_stays_away_as_long_as_it_was_said_when_the_keeper_is_killed(self, house):
        house.controller.create_compute("spot", SPOT)
        run_id = house.submit(compute="spot")
        house.start_ranks(run_id)
        house.controller.preempt("spot", away_s=3600.0)
        house.restart()
        house.finish(run_id, "lost", cause=TAKEN)
        wait_for(lambda: "1 preempted" in house.reason(run_id), "its reason")
        assert house.controller._computes.next_change() > time.monotonic() + 3000

    def test_the_budget_of_a_low_priority_cluster_is_three_unless_said(self, house):
        house.controller.create_compute("spot", SPOT)
        run_id = house.submit(compute="spot")
        for attempt in (1, 2, 3, 4):
            house.wait_placed(run_id, times=attempt)
            house.start_ranks(run_id, attempt=attempt)
            house.finish(run_id, "lost", attempt=attempt, cause=TAKEN)
        run = house.wait(run_id, "Failed")
        assert [a["result"] for a in run["attempts"]] == ["lost"] * 4
        once = house.submit(compute="spot", retries_lost_node=0)
        house.start_ranks(once)
        house.finish(once, "lost", cause=TAKEN)
        assert house.status(once) == "Failed"

    def test_an_idle_node_is_taken_when_nothing_runs(self, house, monkeypatch):
        house.controller.create_compute("spot", ClusterSpec(vm_priority="lowpriority", min_nodes=1, max_nodes=1))
        taken = house.controller.preempt("spot", away_s=60.0)
        assert (taken["node"], taken["run_id"], states(house)) == ("spot-0", None, ["preempted"])
        assert house.controller.compute("spot")["node_states"]["preempted"] == 1
        waits = house.submit(compute="spot")
        wait_for(lambda: "1 preempted" in house.reason(waits), "its reason")

    def test_refuses_what_makes_no_sense(self, house):
        house.controller.create_compute("steady", ClusterSpec(min_nodes=1))
        house.controller.create_compute("spot", SPOT)
        with pytest.raises(ComputeError, match="dedicated"):
            house.controller.preempt("steady")
        assert house.controller.preempt("steady", force=True)["node"] == "steady-0"
        with pytest.raises(ComputeError, match="no node that is up"):
            house.controller.preempt("spot")
        with pytest.raises(ComputeError, match="no node 'spot-9'"):
            house.controller.preempt("spot", "spot-9")
        with pytest.raises(ComputeError, match="this machine"):
            house.controller.preempt("local", force=True)
        with pytest.raises(ComputeNotFoundError):
            house.controller.preempt("nowhere")
        with pytest.raises(UserError, match="grace_s"):
            house.controller.preempt("spot", grace_s=-1.0)


class TestElastic:
    FIELDS = {"compute": "pool", "node_count": 2, "launcher": "per_process", "retries_lost_node": 1}

    def lose(self, house, run_id, away_s=60.0):
        for node in (0, 1):
            house.wait_placed(run_id, node=node)
            house.controller.agent_hello(run_id, 1, node, {})
            house.controller.agent_running(run_id, 1, node, {"ranks": []})
        assert house.controller.preempt("pool", "pool-1", away_s=away_s)["run_id"] == run_id
        for node in (0, 1):
            house.controller.agent_outcome(run_id, 1, node, {"result": "lost", "cause": TAKEN})
            house.controller.agent_finished(run_id, 1, node, {"warnings": []})

    def test_goes_on_with_fewer_nodes_after_a_loss(self, house):
        house.controller.create_compute("pool", ClusterSpec(vm_priority="lowpriority", max_nodes=2))
        run_id = house.submit(min_node_count=1, **self.FIELDS)
        self.lose(house, run_id)
        place = house.wait_placed(run_id, times=2)
        job = read_job(place.paths)
        assert (job.world_size, [r.variables["ROOKERY_WORLD_SIZE"] for r in job.ranks]) == (1, ["1"])
        house.controller.agent_outcome(run_id, 2, 0, {"result": "completed"})
        house.controller.agent_finished(run_id, 2, 0, {"warnings": []})
        run = house.record.runs.get(run_id)
        assert run["status"] == "Completed"
        assert [len(a["nodes"]) for a in run["attempts"]] == [2, 1]
        assert any("1 of 2 nodes" in text for text in run["warnings"])

    def test_waits_for_all_where_it_does_not_say_so(self, house):
        house.controller.create_compute("pool", ClusterSpec(vm_priority="lowpriority", max_nodes=2))
        run_id = house.submit(**self.FIELDS)
        self.lose(house, run_id, away_s=1.5)
        house.wait_placed(run_id, times=2, node=1)
        assert [len(a["nodes"]) for a in house.record.runs.get(run_id)["attempts"]] == [2, 2]

    def test_waits_for_all_at_its_first_start(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        holder = house.submit(compute="pool")
        house.start_ranks(holder)
        run_id = house.submit(min_node_count=1, **self.FIELDS)
        house.wait(run_id, "Queued")
        wait_for(lambda: "waits for 2 nodes" in house.reason(run_id), "its reason")
        house.finish(holder)
        house.wait_placed(run_id, node=1)
