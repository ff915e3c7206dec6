"""The SSH engine sits the exam of engines on other machines."""

from __future__ import annotations

import pytest

from rookery.engine.engines.ssh import SshEngine
from rookery.spec.compute import ClusterSpec, Reach
from rookery.testing.remote_exam import DeadNodeExam, RemoteEngineExam
from rookery.testing.stand_in import ClusterUnderTest, stand_in_boot

pytestmark = pytest.mark.slow


class SshUnderTest(ClusterUnderTest):
    num_nodes = 2
    node_death_s = 120.0

    def __init__(self, machines, folder, lost_after_s):
        self.machines, self.folder, self.lost_after_s = machines, folder, lost_after_s

    @property
    def spec(self) -> ClusterSpec:
        options = self.machines.options(lost_after_s=self.lost_after_s, connect_timeout_s=20)
        return ClusterSpec(
            engine="ssh", max_nodes=2, options=options, reach=Reach(node_home=str(self.folder / "a node's home"))
        )

    def make_engine(self) -> SshEngine:
        return SshEngine(self.name, self.spec, stand_in_boot, str(self.folder / "the state of it"))

    def kill_node(self, name: str) -> None:
        self.machines.crash(self._node(name))

    def revive_node(self, name: str) -> None:
        self.machines.boot(self._node(name))

    def _node(self, name: str) -> str:
        return next(n.name for n in self.machines.network if name.startswith(n.address + ":"))


class TestSshEngine(DeadNodeExam, RemoteEngineExam):
    @pytest.fixture
    def cluster(self, machines, tmp_path, request):
        # Given up soon only where that is the point: on a busy machine a connection may take as long.
        is_soon = request.node.originalname == "test_names_a_node_that_died"
        return SshUnderTest(machines, tmp_path, 10 if is_soon else 600)
