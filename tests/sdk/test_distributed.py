from __future__ import annotations

import pytest

from rookery.errors import RunConfigError, UnsupportedError
from rookery.sdk.distributed import (
    LaunchPlan,
    MpiConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
    apply_distributed_job_config,
    plan_launch,
)
from rookery.sdk.run_configuration import RunConfiguration


def plan(config, is_command=False):
    run_config = RunConfiguration()
    if config is not None:
        apply_distributed_job_config(run_config, config)
    return plan_launch(run_config, is_command)


class TestApply:
    @pytest.mark.parametrize(
        ("config", "framework", "communicator", "nodes"),
        [
            (PyTorchConfiguration("Gloo", 4, 2), "PyTorch", "gloo", 2),
            (MpiConfiguration(2, 3), "Python", "IntelMpi", 3),
            (TensorflowConfiguration(4, 1), "TensorFlow", "ParameterServer", 4),
        ],
    )
    def test_writes_the_documented_words(self, config, framework, communicator, nodes):
        run_config = RunConfiguration()
        apply_distributed_job_config(run_config, config)
        assert (run_config.framework, run_config.communicator, run_config.node_count) == (
            framework,
            communicator,
            nodes,
        )

    def test_refuses_anything_else(self):
        with pytest.raises(RunConfigError, match="MpiConfiguration"):
            apply_distributed_job_config(RunConfiguration(), "mpi")


class TestPlan:
    def test_an_ordinary_script(self):
        assert plan(None) == LaunchPlan("none", 1, 1, {})

    @pytest.mark.parametrize(("total", "nodes", "each"), [(4, 2, 2), (2, 2, 1), (8, 2, 4), (None, 3, 1), ("4", "2", 2)])
    def test_processes_are_split_evenly(self, total, nodes, each):
        made = plan(PyTorchConfiguration("Nccl", total, nodes))
        assert made == LaunchPlan("per_process", int(nodes), each, {"backend": "nccl"})

    @pytest.mark.parametrize(("total", "nodes", "advice"), [(3, 2, "use 2 or 4"), (1, 2, "use 2")])
    def test_a_remainder_is_refused_with_what_fits(self, total, nodes, advice):
        with pytest.raises(RunConfigError, match=advice):
            plan(PyTorchConfiguration("Nccl", total, nodes))

    def test_a_command_with_one_process_a_node_is_started_per_node(self):
        assert plan(PyTorchConfiguration(node_count=2), is_command=True).launcher == "per_node"
        assert plan(PyTorchConfiguration(process_count=4, node_count=2), is_command=True).launcher == "per_process"

    def test_mpi(self):
        assert plan(MpiConfiguration(2, 2)) == LaunchPlan("mpi", 2, 2, {})

    def test_tensorflow(self):
        made = plan(TensorflowConfiguration(2, 1))
        assert made == LaunchPlan("tensorflow", 2, 1, {"worker_count": 2, "parameter_server_count": 1})

    @pytest.mark.parametrize("count", [0, -1, 1.5, "two", None, True])
    def test_a_count_that_is_none_is_refused(self, count):
        with pytest.raises(RunConfigError, match="node_count"):
            plan(MpiConfiguration(1, count))

    def test_an_older_run_configuration_by_hand(self):
        run_config = RunConfiguration(communicator="OpenMpi")
        run_config.node_count, run_config.mpi.process_count_per_node = 2, 3
        assert plan_launch(run_config, False) == LaunchPlan("mpi", 2, 3, {})

    def test_parallel_tasks(self):
        run_config = RunConfiguration(communicator="ParallelTask")
        run_config.node_count, run_config.paralleltask.worker_count_per_node = 2, 3
        assert plan_launch(run_config, False) == LaunchPlan("parallel_task", 2, 3, {})
        run_config.paralleltask.max_retries_per_worker = 1
        with pytest.raises(UnsupportedError, match="max_retries_per_worker=1"):
            plan_launch(run_config, False)

    def test_spark_is_not_available(self):
        with pytest.raises(UnsupportedError, match="PySpark"):
            plan_launch(RunConfiguration(framework="PySpark"), False)

    def test_an_unknown_backend_is_refused(self):
        with pytest.raises(RunConfigError, match="Known: Nccl, Gloo"):
            PyTorchConfiguration("Mpi")
