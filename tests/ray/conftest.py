"""One real Ray cluster of three nodes (whose GPUs are made up) for all tests here."""

from __future__ import annotations

import pytest

from rookery.testing.ray_cluster import RayCluster


@pytest.fixture(scope="session")
def ray_cluster():
    with RayCluster(gpus=2) as cluster:
        yield cluster
