"""One real Ray cluster of three nodes (whose GPUs are made up) for all tests here."""

from __future__ import annotations

import pytest

from rookery.testing.ray_cluster import RayCluster


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory):
    """Its processes have numbers of their own, as those of other machines have: `here` tells what they are on this side."""
    node_home, hidden = (str(tmp_path_factory.mktemp(name)) for name in ("node-home", "not-for-nodes"))
    with RayCluster(gpus=2, own_pids=True, private=(node_home, hidden)) as cluster:
        cluster.node_home, cluster.hidden = node_home, hidden
        yield cluster
