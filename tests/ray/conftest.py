"""One real Ray cluster of three nodes (whose GPUs are made up) for all tests here."""

from __future__ import annotations

import pytest

from rookery.testing.ray_cluster import RayCluster


@pytest.fixture(scope="session")
def ray_cluster():
    """Its processes have numbers of their own, as those of other machines have: `here` tells what they are on this side."""
    with RayCluster(gpus=2, own_pids=True) as cluster:
        yield cluster
