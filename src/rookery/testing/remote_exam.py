"""What engines whose nodes are other machines promise besides: their queue, their dead nodes, their secrets."""

from __future__ import annotations

from functools import partial

import pytest

from rookery.engine.engines.base import Engine
from rookery.engine.processes import all_pids, command_line
from rookery.errors import ComputeError
from rookery.testing.engine_exam import EngineExam
from rookery.testing.stand_in import SECRET, wait_for

__all__ = ["DeadNodeExam", "QueueExam", "RemoteEngineExam"]


class RemoteEngineExam(EngineExam):
    """The whole exam for Ray, Slurm, SSH. Those that have a queue, or nodes that can be killed in a test, add the
    others here: `class TestSlurm(QueueExam, DeadNodeExam, RemoteEngineExam)`."""

    def test_tells_every_agent_its_node_and_what_it_may_use(self, cluster, started, new_place, up):
        engine, _ = started()
        gang = [new_place(node=i) for i in range(cluster.num_nodes)]
        engine.place(gang)
        told = [up(place)["env"] for place in gang]
        assert [v["ROOKERY_NODE"] for v in told] == [str(i) for i in range(cluster.num_nodes)]
        assert all(int(v["ROOKERY_NODE_CPUS"]) >= 1 for v in told)
        assert {v["ROOKERY_NODE_NAME"] for v in told} <= {n.name for n in engine.nodes()}

    def test_gives_a_gang_a_machine_each(self, cluster, started, new_place, up):
        engine, _ = started()
        gang = [new_place(node=i) for i in range(cluster.num_nodes)]
        engine.place(gang)
        assert len({up(place)["env"]["ROOKERY_NODE_NAME"] for place in gang}) == cluster.num_nodes

    def test_shows_no_secret_in_a_command_line(self, cluster, started, new_place, up):
        engine, _ = started()
        place = new_place()
        engine.place([place])
        up(place)
        assert not [pid for pid in all_pids() if SECRET in " ".join(command_line(pid))]

    def test_places_all_or_none(self, cluster, started, new_place):
        """More than there is: refused at once, or told as the death of each; nothing is left running."""
        engine, deaths = started()
        gang = [new_place(node=i) for i in range(cluster.num_nodes + 1)]
        try:
            engine.place(gang)
        except ComputeError:
            assert not deaths.seen
        else:
            wait_for(lambda: all(deaths.of(p) for p in gang), "the death of each", cluster.start_s + cluster.death_s)
            assert all(d.reason for d in deaths.seen)
        assert not any(engine.is_alive(place) for place in gang)
        found = [cluster.read(place, "up.json") for place in gang]
        wait_for(lambda: not any(up and cluster.is_running(up) for up in found), "the end of all")

    def test_gives_back_what_an_agent_had(self, cluster, started, new_place, up):
        engine, deaths = started()
        before = wait_for(partial(_all_free, engine), "free cores: what was there before may still be ending")
        place = new_place()
        engine.place([place])
        up(place)
        wait_for(lambda: _free(engine) < before, "that it is seen to be in use", cluster.start_s)
        engine.kill(place)
        wait_for(lambda: deaths.of(place), "the death", cluster.death_s)
        wait_for(lambda: _free(engine) == before, "that it is free again", cluster.death_s)


class QueueExam:
    """For engines in whose own queue agents may wait; needs `ClusterUnderTest.make_full_engine`."""

    def test_says_what_a_placement_waits_for(self, cluster, started, new_place, up):
        engine, deaths = started(cluster.make_full_engine)
        first = [new_place(node=i, run_id="first") for i in range(cluster.num_nodes)]
        second = new_place(run_id="second")
        engine.place(first)
        for place in first:
            up(place)
        engine.place([second])
        words = wait_for(lambda: engine.waiting(second), "what it waits for", cluster.start_s)
        assert engine.is_alive(second)
        assert cluster.read(second, "up.json") is None, words
        for place in first:
            engine.kill(place)
        up(second)
        wait_for(lambda: engine.waiting(second) == "", "that it waits no more")
        assert not deaths.of(second)

    def test_takes_back_what_still_waits(self, cluster, started, new_place, up):
        engine, deaths = started(cluster.make_full_engine)
        first = [new_place(node=i, run_id="first") for i in range(cluster.num_nodes)]
        second = new_place(run_id="second")
        engine.place(first)
        for place in first:
            up(place)
        engine.place([second])
        wait_for(lambda: engine.waiting(second), "that it waits", cluster.start_s)
        engine.kill(second)
        wait_for(lambda: deaths.of(second), "its death", cluster.death_s)
        assert cluster.read(second, "up.json") is None
        assert not any(deaths.of(place) for place in first)

    def test_finds_what_waits_again(self, cluster, started, new_place, up):
        engine, _ = started(cluster.make_full_engine)
        first = [new_place(node=i, run_id="first") for i in range(cluster.num_nodes)]
        second = new_place(run_id="second")
        engine.place(first)
        for place in first:
            up(place)
        engine.place([second])
        wait_for(lambda: engine.waiting(second), "that it waits", cluster.start_s)
        engine.stop()
        again, _deaths = started(cluster.make_full_engine)
        assert again.adopt([second, *first]) == {second, *first}
        for place in first:
            again.kill(place)
        up(second)


class DeadNodeExam:
    """Needs `ClusterUnderTest.kill_node` and `revive_node`."""

    @pytest.mark.slow
    def test_names_a_node_that_died(self, cluster, started, new_place, up):
        engine, deaths = started()
        gang = [new_place(node=i) for i in range(cluster.num_nodes)]
        engine.place(gang)
        names = {place: up(place)["env"]["ROOKERY_NODE_NAME"] for place in gang}
        lost = gang[-1]
        cluster.kill_node(names[lost])
        try:
            death = wait_for(lambda: deaths.of(lost), "the death of its agent", cluster.node_death_s)[0]
            assert names[lost] in death.reason
            assert not engine.is_alive(lost)
            assert engine.sweep(lost) == []
            wait_for(lambda: names[lost] not in _usable(engine), "that the node is out", cluster.node_death_s)
        finally:
            for place in gang:
                engine.kill(place)
            cluster.revive_node(names[lost])
        wait_for(lambda: names[lost] in _usable(engine), "that the node is back", cluster.node_death_s)


def _free(engine: Engine) -> int:
    return sum(n.free_cpus for n in engine.nodes())


def _all_free(engine: Engine) -> int:
    """How many cores there are; 0 while one of them is in use."""
    nodes = engine.nodes()
    return sum(n.cpus for n in nodes) if all(n.free_cpus == n.cpus for n in nodes) else 0


def _usable(engine: Engine) -> set[str]:
    return {n.name for n in engine.nodes() if n.state in ("idle", "running")}
