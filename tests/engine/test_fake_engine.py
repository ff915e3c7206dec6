"""The fake engine sits the exam: what is tested over it is worth something only if it behaves."""

from __future__ import annotations

import json

import pytest

from rookery.testing.fake_cluster import FakeCluster
from rookery.testing.fake_engine import FakeEngine
from rookery.testing.remote_exam import DeadNodeExam, QueueExam, RemoteEngineExam
from rookery.testing.stand_in import ClusterUnderTest


class InMemory(ClusterUnderTest):
    """What stand-ins write to files is told from memory."""

    num_nodes = 3

    def __init__(self):
        self.machines = FakeCluster(self.num_nodes, cpus=2)

    def make_engine(self):
        return FakeEngine(self.machines)

    def make_full_engine(self):
        return FakeEngine(self.machines, cpus=2)

    def read(self, place, name):
        agent = self.machines.find(place)
        if agent is None:
            return None
        if name == "child.json":
            return {"pid": agent.child} if agent.child else None
        told = {
            "ROOKERY_NODE": str(place.node),
            "ROOKERY_NODE_CPUS": "1",
            "ROOKERY_NODE_NAME": agent.machine,
        }
        return {"pid": agent.pid, "sid": agent.pid, "env": told}

    def is_running(self, process):
        agents = self.machines.agents.values()
        return any((a.is_alive and a.pid == process["pid"]) or a.child == process["pid"] for a in agents)

    def kill_process(self, process):
        for agent in list(self.machines.agents.values()):
            if agent.pid == process["pid"]:
                self.machines.end(agent.place, signal="SIGKILL")

    def kill_node(self, name):
        self.machines.kill_node(name)

    def revive_node(self, name):
        self.machines.revive_node(name)


class TestFakeEngine(QueueExam, DeadNodeExam, RemoteEngineExam):
    @pytest.fixture
    def cluster(self):
        found = InMemory()
        yield found
        found.machines.close()

    def test_reads_what_the_exam_asks_of_it(self, started, new_place, cluster):
        engine, _ = started()
        place = new_place(child=True)
        engine.place([place])
        assert json.dumps(cluster.read(place, "child.json"))
