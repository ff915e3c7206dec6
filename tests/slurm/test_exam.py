"""The Slurm engine sits the exam of all engines, over a real Slurm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rookery.engine.engines.slurm import SlurmEngine
from rookery.spec.compute import ClusterSpec, Reach
from rookery.testing.remote_exam import DeadNodeExam, QueueExam, RemoteEngineExam
from rookery.testing.stand_in import ClusterUnderTest, stand_in_boot

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


class Machines(ClusterUnderTest):
    num_nodes = 2
    node_death_s = 120.0

    def __init__(self, slurm, folder):
        self._slurm, self._folder = slurm, folder

    @property
    def spec(self):
        options = {"conf": self._slurm.conf}
        return ClusterSpec("slurm", max_nodes=3, cpus_per_node=1, options=options, reach=Reach(shared_files=True))

    def make_engine(self):
        return SlurmEngine(self.name, self.spec, stand_in_boot, self._folder)

    def make_full_engine(self):
        return SlurmEngine(self.name, replace(self.spec, cpus_per_node=None), stand_in_boot, self._folder)

    def kill_node(self, name):
        self._slurm.kill_node(name)

    def revive_node(self, name):
        self._slurm.revive_node(name)


class TestSlurm(QueueExam, DeadNodeExam, RemoteEngineExam):
    @pytest.fixture
    def cluster(self, slurm, tmp_path):
        return Machines(slurm, str(tmp_path / "its state"))
