"""Distributed jobs: the configurations users write, and what they come to in nodes, processes and a
launcher."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import RunConfigError, UnsupportedError
from rookery.sdk.element import Element

if TYPE_CHECKING:
    from rookery.sdk.run_configuration import RunConfiguration

__all__ = [
    "SUPPORTED_PYTORCH_BACKENDS",
    "LaunchPlan",
    "MpiConfiguration",
    "ParallelTaskConfiguration",
    "PyTorchConfiguration",
    "TensorflowConfiguration",
    "apply_distributed_job_config",
    "plan_launch",
]

SUPPORTED_PYTORCH_BACKENDS = ["nccl", "gloo"]


class PyTorchConfiguration(Element):
    """`process_count` is the total over all nodes; None means one process per node."""

    def __init__(
        self, communication_backend: str = "Nccl", process_count: Optional[int] = None, node_count: int = 1
    ) -> None:
        if (
            not isinstance(communication_backend, str)
            or communication_backend.lower() not in SUPPORTED_PYTORCH_BACKENDS
        ):
            raise RunConfigError(f"communication_backend={communication_backend!r} does not exist. Known: Nccl, Gloo.")
        self.process_count = process_count
        self.node_count = node_count
        self.communication_backend = communication_backend.lower()


class MpiConfiguration(Element):
    def __init__(self, process_count_per_node: int = 1, node_count: int = 1) -> None:
        self.process_count_per_node = process_count_per_node
        self.node_count = node_count


class TensorflowConfiguration(Element):
    def __init__(self, worker_count: int = 1, parameter_server_count: int = 1) -> None:
        self.worker_count = worker_count
        self.parameter_server_count = parameter_server_count


class ParallelTaskConfiguration(Element):
    def __init__(self) -> None:
        self.max_retries_per_worker = 0
        self.worker_count_per_node = 1
        self.terminal_exit_codes: Optional[list[int]] = None


@dataclass(frozen=True)
class LaunchPlan:
    """What RunSpec says about processes. launcher: one of spec.launch.LAUNCHERS."""

    launcher: str = "none"
    node_count: int = 1
    processes_per_node: int = 1
    options: dict[str, Any] = field(default_factory=dict)


def apply_distributed_job_config(run_config: RunConfiguration, config: Any) -> None:
    """Write `config` into the run configuration, as ScriptRunConfig(distributed_job_config=…) does.

    Raises:
        RunConfigError: it is none of the three configurations.
    """
    if isinstance(config, PyTorchConfiguration):
        run_config.framework, run_config.communicator = "PyTorch", config.communication_backend
        run_config.pytorch, run_config.node_count = config, config.node_count
    elif isinstance(config, MpiConfiguration):
        run_config.framework, run_config.communicator = "Python", "IntelMpi"
        run_config.mpi, run_config.node_count = config, config.node_count
    elif isinstance(config, TensorflowConfiguration):
        run_config.framework, run_config.communicator = "TensorFlow", "ParameterServer"
        run_config.tensorflow, run_config.node_count = config, config.worker_count
    else:
        raise RunConfigError(
            f"distributed_job_config is {type(config).__name__}. Allowed: PyTorchConfiguration, "
            "MpiConfiguration, TensorflowConfiguration."
        )


def plan_launch(run_config: RunConfiguration, is_command: bool) -> LaunchPlan:
    """Nodes, processes and launcher of a run configuration.

    A PyTorch job that is a command with one process per node starts the command once per node (the command is
    a launcher itself); every other PyTorch job starts each process.

    Raises:
        RunConfigError: a count is no positive whole number, or processes do not divide evenly over the nodes.
    """
    nodes = _count(run_config.node_count, "node_count")
    framework = str(run_config.framework or "Python").lower()
    communicator = str(run_config.communicator or "None").lower()
    if framework == "pyspark":
        raise UnsupportedError(
            f"framework={run_config.framework!r} with communicator={run_config.communicator!r} is not "
            "available in Rookery. Use Python, PyTorch or TensorFlow."
        )
    if communicator == "paralleltask":
        return _plan_parallel_task(run_config, nodes)
    if communicator in ("intelmpi", "openmpi", "mpi"):
        return LaunchPlan("mpi", nodes, _count(run_config.mpi.process_count_per_node, "process_count_per_node"))
    if framework == "tensorflow" and communicator == "parameterserver":
        workers = _count(run_config.tensorflow.worker_count, "worker_count")
        servers = _count(run_config.tensorflow.parameter_server_count, "parameter_server_count", least=0)
        return LaunchPlan(
            "tensorflow", max(nodes, workers), 1, {"worker_count": workers, "parameter_server_count": servers}
        )
    if framework == "pytorch" or communicator in SUPPORTED_PYTORCH_BACKENDS:
        return _plan_pytorch(run_config, nodes, communicator, is_command)
    return LaunchPlan("per_node" if nodes > 1 else "none", nodes)


def _plan_parallel_task(run_config: RunConfiguration, nodes: int) -> LaunchPlan:
    """Workers that know nothing of each other: `worker_count_per_node` processes on each node."""
    task = run_config.paralleltask
    each = _count(task.worker_count_per_node, "worker_count_per_node")
    retries = _count(task.max_retries_per_worker, "max_retries_per_worker", least=0)
    if retries or task.terminal_exit_codes:
        raise UnsupportedError(
            f"max_retries_per_worker={retries}, terminal_exit_codes={task.terminal_exit_codes}: single workers are not "
            "started again in Rookery. Leave both at their defaults; the run as a whole can be retried."
        )
    return LaunchPlan("parallel_task", nodes, each)


def _plan_pytorch(run_config: RunConfiguration, nodes: int, communicator: str, is_command: bool) -> LaunchPlan:
    given = run_config.pytorch.process_count
    total = nodes if given is None else _count(given, "process_count")
    if total % nodes:
        fitting = sorted({max(nodes, total - total % nodes), total - total % nodes + nodes})
        raise RunConfigError(
            f"process_count={total} does not divide evenly over node_count={nodes}. "
            f"process_count is the total over all nodes; use {' or '.join(map(str, fitting))}."
        )
    backend = communicator if communicator in SUPPORTED_PYTORCH_BACKENDS else run_config.pytorch.communication_backend
    launcher = "per_node" if is_command and total == nodes else "per_process"
    return LaunchPlan(launcher, nodes, total // nodes, {"backend": backend})


def _count(value: Any, name: str, least: int = 1) -> int:
    try:
        number = int(value)
        fine = not isinstance(value, bool) and number == float(value) and number >= least
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise RunConfigError(f"{name}={value!r} is not allowed. Give a whole number of at least {least}.")
    return number
