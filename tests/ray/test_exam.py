"""The Ray engine sits the exam on a real cluster: its bridge as a driver on the head, which is quick to start."""

from __future__ import annotations

import pytest

from rookery.engine.engines.ray import RayEngine
from rookery.spec.compute import ClusterSpec
from rookery.testing.engine_exam import ClusterUnderTest, stand_in_boot, wait_for
from rookery.testing.remote_exam import DeadNodeExam, QueueExam, RemoteEngineExam

pytestmark = pytest.mark.slow


class RayUnderTest(ClusterUnderTest):
    num_nodes = 3

    def __init__(self, cluster, folder):
        self._cluster, self._folder, self._made = cluster, str(folder), 0

    @property
    def spec(self):
        return self._spec(1)

    def _spec(self, cpus):
        options = self._cluster.driver_options
        return ClusterSpec(engine="ray", max_nodes=3, cpus_per_node=cpus, gpus_per_node=0, options=options)

    def make_engine(self):
        return self._make(self._spec(1))

    def make_full_engine(self):
        return self._make(self._spec(2))

    def _make(self, spec):
        self._made += 1
        return _Engine(self._made == 1, self.name, spec, stand_in_boot, self._folder)

    def read(self, place, name):
        found = super().read(place, name)
        return self._cluster.here(found) if found and "host" in found else found

    def kill_node(self, name):
        self._cluster.kill_node(name)

    def revive_node(self, name):
        self._cluster.start_node(name)


class _Engine(RayEngine):
    """The first of a test finds what the test before it has left, and ends it."""

    def __init__(self, is_first, *given):
        super().__init__(*given)
        self._is_first = is_first

    def start(self, on_death):
        super().start(on_death)
        if self._is_first:
            self._unknown_until = 0.0
            wait_for(lambda: not self._gangs and all(n.free_cpus == n.cpus for n in self.nodes()), "an empty cluster")


@pytest.fixture(scope="session")
def state_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ray engine's state")


class TestRayEngine(QueueExam, DeadNodeExam, RemoteEngineExam):
    @pytest.fixture
    def cluster(self, ray_cluster, state_folder):
        return RayUnderTest(ray_cluster, state_folder)
