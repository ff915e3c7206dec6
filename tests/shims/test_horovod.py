"""horovod.torch's operations in real processes: two, four as two nodes, and one alone."""

from __future__ import annotations

import pytest

from tests.shims.horovod_world import check_names, free_port, run_ranks

CHECKS = check_names("operations.py")
ALONE = check_names("alone.py")


def torch_variables(size, per_node, port):
    """As Rookery's per-process launch sets them."""
    return [
        {
            "RANK": str(r),
            "WORLD_SIZE": str(size),
            "LOCAL_RANK": str(r % per_node),
            "NODE_RANK": str(r // per_node),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
        }
        for r in range(size)
    ]


def mpi_variables(size, per_node, job):
    """As a bare mpirun on one machine sets them; RANK is somebody else's."""
    return [
        {
            "OMPI_COMM_WORLD_RANK": str(r),
            "OMPI_COMM_WORLD_SIZE": str(size),
            "OMPI_COMM_WORLD_LOCAL_RANK": str(r % per_node),
            "OMPI_COMM_WORLD_LOCAL_SIZE": str(per_node),
            "OMPI_MCA_ess_base_jobid": job,
            "RANK": "7",
            "WORLD_SIZE": "9",
        }
        for r in range(size)
    ]


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """Two nodes with two ranks each."""
    return run_ranks("operations.py", torch_variables(4, 2, free_port()), tmp_path_factory.mktemp("four"))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Under what looks like mpirun, without MASTER_ADDR and MASTER_PORT."""
    return run_ranks("operations.py", mpi_variables(2, 2, "job-" + free_port()), tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return run_ranks("alone.py", [{}], tmp_path_factory.mktemp("one"))


def said(ranks, check):
    """What went wrong, rank by rank; empty where nothing did."""
    return "\n".join(f"rank {r}: {results[check]}" for r, results in enumerate(ranks) if results[check])


class TestOperations:
    @pytest.mark.slow
    @pytest.mark.parametrize("check", CHECKS)
    def test_four_ranks_on_two_nodes(self, four, check):
        assert said(four, check) == ""

    @pytest.mark.slow
    @pytest.mark.parametrize("check", CHECKS)
    def test_two_ranks(self, two, check):
        assert said(two, check) == ""

    @pytest.mark.parametrize("check", ALONE)
    def test_alone(self, one, check):
        assert said(one, check) == ""
