"""The variables of distributed runs that are known before the agents have met. Pure.

What the agents agree on (MASTER_ADDR, MASTER_PORT, TF_CONFIG, AZ_BATCH_MASTER_NODE …) they add themselves:
rookery.agent.launch_variables. What mpirun sets (OMPI_*) it sets.
"""

from __future__ import annotations

from rookery.spec.launch import Launcher, command_processes
from rookery.spec.run import RunSpec

__all__ = ["launch_variables", "processes_sharing", "threads_per_rank"]

_FRAMEWORKS = {Launcher.PER_PROCESS: "PyTorch", Launcher.PER_NODE: "PyTorch", Launcher.TENSORFLOW: "TensorFlow"}
_COMMUNICATORS = {
    Launcher.MPI: "IntelMpi",
    Launcher.TENSORFLOW: "ParameterServer",
    Launcher.PARALLEL_TASK: "ParallelTask",
}


def launch_variables(spec: RunSpec, node: int, rank: int, local_rank: int, world_size: int) -> dict[str, str]:
    """What tells a process its place among the others."""
    if spec.launcher == Launcher.NONE and world_size == 1:
        return {}
    backend = str(spec.launcher_options.get("backend") or "")
    variables = {
        "AZUREML_FRAMEWORK": _FRAMEWORKS.get(spec.launcher, "Python"),
        "AZUREML_COMMUNICATOR": _COMMUNICATORS.get(spec.launcher, backend or "None"),
        "AZUREML_NODE_COUNT": str(max(1, world_size // max(1, spec.processes_per_node))),
        "AZ_BATCHAI_TASK_INDEX": str(rank),
        "AZ_BATCHAI_TASK_TYPE": "worker",
    }
    if spec.launcher in (Launcher.MPI, Launcher.TENSORFLOW):
        return variables  # RANK and its like would contradict, or repeat, what mpirun and TF_CONFIG say
    variables.update(
        {
            "NODE_RANK": str(node),
            "GROUP_RANK": str(node),
            "RANK": str(rank),
            "LOCAL_RANK": str(local_rank),
            "WORLD_SIZE": str(world_size),
            "LOCAL_WORLD_SIZE": str(spec.processes_per_node),
        }
    )
    return variables


def threads_per_rank(spec: RunSpec, num_cpus: int) -> int:
    """The node's cores divided among its processes; 0 where only the launcher in its command knows how many there are."""
    each = processes_sharing(spec)
    return max(1, num_cpus // each) if each and num_cpus else 0


def processes_sharing(spec: RunSpec) -> int:
    """How many processes share a node's cores; 0 where only the launcher in its command knows."""
    each = max(1, spec.processes_per_node)
    return command_processes(spec.command) or 0 if spec.command and each == 1 else each
