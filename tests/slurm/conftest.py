"""Real Slurms for the tests of this folder; nodes that a test has broken are mended before the next."""

from __future__ import annotations

import os

import pytest

from rookery.testing.slurm_cluster import SlurmCluster


@pytest.fixture(scope="session")
def running_slurm():
    with SlurmCluster(("n0", "n1")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def running_machines(tmp_path_factory):
    node_home = str(tmp_path_factory.mktemp("node-home"))
    hidden = str(tmp_path_factory.mktemp("not-for-nodes"))
    with SlurmCluster(("n0", "n1"), own_pids=True, private=[node_home, hidden]) as cluster:
        cluster.node_home, cluster.hidden = node_home, hidden
        yield cluster


@pytest.fixture
def slurm(running_slurm, monkeypatch):
    """A cluster with nothing of an earlier test in it. Process numbers are this machine's, for looking at agents."""
    yield from _emptied(running_slurm, monkeypatch)


@pytest.fixture
def machines(running_machines, monkeypatch):
    """The same, but nodes have process numbers and a folder (`node_home`) of their own, as other machines have."""
    yield from _emptied(running_machines, monkeypatch)


def _emptied(cluster, monkeypatch):
    jobs_tmp = os.path.join(cluster.folder, "tmp")  # what killed jobs leave goes with the cluster
    os.makedirs(jobs_tmp, exist_ok=True)
    monkeypatch.setenv("TMPDIR", jobs_tmp)
    cluster.mend()
    cluster.cancel_everything()
    cluster.wait_until_idle()
    yield cluster
    cluster.mend()
    cluster.cancel_everything()
