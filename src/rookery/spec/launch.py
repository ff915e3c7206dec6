"""How the processes of a run are started: the launchers, and what an agent must know of the other nodes. Pure data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

__all__ = [
    "DEFAULT_PORT",
    "LAUNCHERS",
    "MPI_LOG",
    "LaunchJob",
    "Launcher",
    "command_processes",
    "launcher_log_name",
    "starts_ranks",
]

DEFAULT_PORT = 6105  # MASTER_PORT of the original
MPI_LOG = "azureml-logs/70_mpi_log.txt"
LAUNCHER_LOG = "azureml-logs/70_launcher_log.txt"

_STARTERS = re.compile(r"\b(torchrun|torch\.distributed\.(launch|run)|accelerate(\s+launch|\.commands\.launch))\b")
_MACHINES = re.compile(r"--num[-_]machines[=\s]+['\"]?([\w$]+)")
_PER_NODE = re.compile(r"--(?:nproc[-_]per[-_]node|num[-_]processes)[=\s]+['\"]?(\w+)")


class Launcher:
    """Who starts the processes of a node."""

    NONE = "none"  # the agent, one
    PER_PROCESS = "per_process"  # the agent, each
    PER_NODE = "per_node"  # the agent starts the command once per node; the command may start more
    MPI = "mpi"  # mpirun, which the agent of node 0 starts
    TENSORFLOW = "tensorflow"  # the agent, each, with TF_CONFIG
    PARALLEL_TASK = "parallel_task"  # the agent, each


LAUNCHERS = (
    Launcher.NONE,
    Launcher.PER_PROCESS,
    Launcher.PER_NODE,
    Launcher.MPI,
    Launcher.TENSORFLOW,
    Launcher.PARALLEL_TASK,
)


@dataclass(frozen=True)
class LaunchJob:
    """What the agent of one node is told about the launch. Addresses and ports are found by the agents themselves.

    address: where the other nodes reach this one. Empty: the agent takes the one from which it reaches its keeper.
    one_machine: all nodes of the run are on one machine, so that loopback and unix sockets reach every one.
    """

    launcher: str
    node_count: int = 1
    processes_per_node: int = 1
    address: str = ""
    one_machine: bool = True
    secret: str = ""  # of this attempt; agents show it to each other
    port: int = DEFAULT_PORT
    backend: str = ""  # what the run configuration asks for: nccl, gloo or nothing
    channel: str = ""  # unix socket on which this agent takes what mpirun wants started
    has_gpus: bool = False
    workers: int = 0  # of TensorFlow; the rest of its processes are parameter servers
    warnings: tuple[str, ...] = ()


def command_processes(command: str) -> Optional[int]:
    """How many processes of a node a command starts: 1 for a plain one, None where a launcher decides by itself."""
    if not _STARTERS.search(command):
        return 1
    found = _PER_NODE.search(command)
    count = int(found.group(1)) if found and found.group(1).isdigit() else 0
    machines = _MACHINES.search(command)  # accelerate counts the processes of all machines
    if count and machines:
        return (
            max(1, count // int(machines.group(1))) if machines.group(1).isdigit() and int(machines.group(1)) else None
        )
    return count or None


def starts_ranks(command: str) -> bool:
    """Whether a command names a launcher whose ranks have logs of their own."""
    return _STARTERS.search(command) is not None


def launcher_log_name(node: int, node_count: int) -> str:
    """What a launcher itself says on a node; its ranks have their own logs."""
    return LAUNCHER_LOG if node_count <= 1 else LAUNCHER_LOG.replace(".txt", f"_{node}.txt")
