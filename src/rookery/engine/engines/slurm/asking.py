"""Questions to Slurm: its queue, its nodes, whether something fits."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Optional

from rookery.engine.engines.base import Capacity, NodeAnswer, NodeInfo
from rookery.engine.engines.slurm.commands import Commands, SlurmAway, SlurmRefused, tidy
from rookery.engine.engines.slurm.listing import (
    JOB_FORMAT,
    SlurmJob,
    read_jobs,
    read_limit_s,
    read_nodes,
    read_partitions,
)
from rookery.engine.engines.slurm.script import request_options
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import SlurmOptions

__all__ = ["Asking"]

log = logging.getLogger(__name__)
CHECK_S = 10.0
PARTITIONS_S = 60.0  # how long what partitions allow is remembered


class Asking:
    """Each method asks Slurm now, unless it says otherwise. Thread-safe."""

    def __init__(self, target: str, commands: Commands) -> None:
        self._target, self._commands = target, commands
        self._user = str(os.getuid())
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._hosts: dict[str, tuple[str, ...]] = {}
        self._partitions: tuple[float, dict[str, dict[str, str]]] = (0.0, {})
        self._gpus: dict[str, tuple[float, int]] = {}
        self.capacity: Optional[Capacity] = None
        self.took_s = 0.0  # how long the last listing took

    # -- the queue -------------------------------------------------------------------------------------------

    def jobs(self) -> dict[int, SlurmJob]:
        """This user's jobs, also those that ended a while ago.

        Raises:
            SlurmAway, SlurmRefused: there is no listing.
        """
        begun = time.monotonic()
        text = self._commands.run("squeue", "-h", "-t", "all", "-u", self._user, "-o", JOB_FORMAT)
        self.took_s = time.monotonic() - begun
        return read_jobs(text)

    def hosts(self, nodelist: str) -> tuple[str, ...]:
        """`n[0-2]` as names, in Slurm's order. Remembered."""
        if nodelist not in self._hosts:
            try:
                lines = self._commands.run("scontrol", "show", "hostnames", nodelist).split()
            except (SlurmAway, SlurmRefused):
                return ()
            self._hosts[nodelist] = tuple(lines)
        return self._hosts[nodelist]

    # -- nodes -----------------------------------------------------------------------------------------------

    def nodes(self, partition: str) -> list[NodeInfo]:
        """All nodes of a partition (of the default one, when empty).

        Raises:
            ComputeError: Slurm does not answer.
        """
        try:
            name = partition or self._partition("").get("PartitionName", "")
            found = read_nodes(self._commands.run("scontrol", "-o", "-d", "show", "node"), name)
        except (SlurmAway, SlurmRefused) as problem:
            raise ComputeError(f"Slurm does not answer (compute target '{self._target}'): {problem}.") from problem
        return found

    def node(self, name: str) -> Optional[NodeInfo]:
        try:
            found = read_nodes(self._commands.run("scontrol", "-o", "-d", "show", "node", name))
        except (SlurmAway, SlurmRefused, ComputeError):
            return None
        return found[0] if found else None

    def partition_limit_s(self, partition: str) -> Optional[int]:
        """The time limit that a job without one gets."""
        try:
            found = self._partition(partition)
        except (SlurmAway, SlurmRefused, ComputeError):
            return None
        return read_limit_s(found.get("DefaultTime", "")) or read_limit_s(found.get("MaxTime", ""))

    def most_nodes(self, partition: str) -> Optional[int]:
        """How many nodes a job there can ever have; Slurm would let one that wants more wait for ever. None: not known."""
        try:
            found = self._partition(partition)
        except (SlurmAway, SlurmRefused, ComputeError):
            return None
        numbers = [int(n) for n in (found.get("TotalNodes", ""), found.get("MaxNodes", "")) if n.isdigit()]
        return min(numbers) if numbers else None

    def gpus_of_a_node(self, partition: str) -> int:
        """How many GPUs every node of a partition has at least: what a job that takes whole nodes asks for, because Slurm
        gives even an exclusive job none that it did not ask for. Remembered for a while."""
        read_at, found = self._gpus.get(partition, (0.0, 0))
        if not read_at or time.monotonic() > read_at + PARTITIONS_S:
            try:
                found = min((n.gpus for n in self.nodes(partition)), default=0)
            except ComputeError:
                return found
            self._gpus[partition] = (time.monotonic(), found)
        return found

    def _partition(self, name: str) -> dict[str, str]:
        """What a partition allows; {} when there is none of that name. Remembered for a while."""
        read_at, found = self._partitions
        if not found or time.monotonic() > read_at + PARTITIONS_S:
            found = read_partitions(self._commands.run("scontrol", "-o", "show", "partition"))
            self._partitions = (time.monotonic(), found)
        return found.get(name, {})

    # -- how much there is -----------------------------------------------------------------------------------

    def count(self) -> None:
        """Ask once what a node has; silent while Slurm is away."""
        try:
            nodes = self.nodes("")
        except ComputeError as problem:
            log.warning("%s", problem)
            return
        with self._lock:
            self.capacity = Capacity(
                tuple(range(max((n.cpus for n in nodes), default=0))),
                tuple(range(max((n.gpus for n in nodes), default=0))),
            )
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def when_counted(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if self.capacity is None:
                self._callbacks.append(callback)
                return
        callback()

    def check(self, node_count: int, spec: ClusterSpec, options: SlurmOptions) -> None:
        """Refuse what can never run. While Slurm is away nothing is refused.

        Raises:
            ComputeError: names what was asked for and what would fit.
        """
        if spec.max_nodes and node_count > spec.max_nodes:
            raise ComputeError(f"{node_count} nodes were requested, but at most {spec.max_nodes} fit.")
        if node_count < 1:
            return
        try:
            self._check_partition(node_count, options)
            self._check_nodes(node_count, spec, options)
            arguments = ["--test-only", *request_options(options, spec, node_count), "--output=/dev/null"]
            self._commands.run("sbatch", *arguments, text="#!/bin/sh\ntrue\n", timeout_s=CHECK_S)
        except SlurmAway as problem:
            log.warning("Slurm target '%s' cannot be asked whether a run fits: %s", self._target, problem)
        except SlurmRefused as problem:
            asked = " ".join(request_options(options, spec, node_count))
            words = tidy(str(problem)).replace("allocation failure: ", "")
            raise ComputeError(f"Slurm would not take such a job: {words}. It was asked for {asked}.") from problem

    def _check_partition(self, node_count: int, options: SlurmOptions) -> None:
        found = self._partition(options.partition)
        if not found:
            self._partitions = (0.0, {})
            found = self._partition(options.partition)
        if not found and options.partition and "," not in options.partition:
            known = sorted(name for name in self._partitions[1] if name)
            raise ComputeError(f"partition={options.partition!r} does not exist in Slurm. Known: {', '.join(known)}.")
        name = found.get("PartitionName", options.partition)
        most = self.most_nodes(options.partition)
        if most is not None and node_count > most:
            raise ComputeError(
                f"{node_count} nodes were requested, but the partition '{name}' gives a job at most {most}."
            )
        limit, asked = read_limit_s(found.get("MaxTime", "")), read_limit_s(options.time_limit)
        if limit and asked and asked > limit:
            raise ComputeError(
                f"time_limit={options.time_limit!r} is above the limit of the partition '{name}', which is "
                f"{found['MaxTime']}. Give at most that."
            )

    def _check_nodes(self, node_count: int, spec: ClusterSpec, options: SlurmOptions) -> None:
        cpus, gpus = options.cpus_per_task or spec.cpus_per_node or 0, spec.gpus_per_node or 0
        nodes = self.nodes(options.partition) if "," not in options.partition else []
        if not nodes:
            return
        fit = [n for n in nodes if n.cpus >= cpus and n.gpus >= gpus]
        if len(fit) >= node_count:
            return
        each = "".join([f" with {cpus} cores" if cpus else "", f" with {gpus} GPUs" if gpus else ""])
        largest = f"The largest has {max(n.cpus for n in nodes)} cores and {max(n.gpus for n in nodes)} GPUs."
        raise ComputeError(
            f"{node_count} node{'s' if node_count > 1 else ''}{each} were requested, but Slurm's partition has at most "
            f"{len(fit)} such nodes ({len(nodes)} in all). {largest}"
        )

    # -- a program on a node ---------------------------------------------------------------------------------

    def run_on_node(
        self, program: str, timeout_s: float, spec: ClusterSpec, options: SlurmOptions, owner: str
    ) -> NodeAnswer:
        """One task on whichever node is free first."""
        self._commands.check()
        python = spec.reach.python or "python3"
        name = f"check.rk{owner}"
        start = 'echo "rk-node $SLURMD_NODENAME"; exec "$0" -I -'
        command = ["srun", f"--job-name={name}", "--mpi=none", "--chdir=/", *_one_task(options, spec)]
        code, output, errors = self._commands.call([*command, "sh", "-c", start, python], program, timeout_s)
        if code is None:
            self._cancel(name)
            raise ComputeError(
                f"A program on a node of the Slurm target '{self._target}' was not done within {timeout_s:g} s: no node was "
                "free, or it took too long. `squeue` and `sinfo` say more."
            )
        first, _, rest = output.partition("\n")
        if not first.startswith("rk-node "):
            words = tidy(errors) or tidy(output) or f"srun ended with exit code {code}"
            raise ComputeError(f"No program can be run on a node of the Slurm target '{self._target}': {words}.")
        return NodeAnswer(first[len("rk-node ") :].strip(), code, rest)

    def _cancel(self, name: str) -> None:
        try:
            self._commands.run("scancel", f"--name={name}", "-u", self._user)
        except (SlurmAway, SlurmRefused):
            pass


def _one_task(options: SlurmOptions, spec: ClusterSpec) -> Sequence[str]:
    """As for a run, but the smallest share of a node: it must not wait for a whole one."""
    asked = request_options(options, spec, 1)
    dropped = ("--exclusive", "--cpus-per-task", "--gres", "--mem=", "--time=")
    return [word for word in asked if not word.startswith(dropped)] + ["--cpus-per-task=1", "--time=1"]
