"""From a run to what its agents are told: job.json. Pure, except for writing the file."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from collections.abc import Sequence
from typing import Optional

from rookery.engine.ground import Ground, ground_here
from rookery.engine.launch_variables import processes_sharing
from rookery.engine.outcome import Grant
from rookery.engine.variables import Surroundings, rank_variables
from rookery.environments import BuiltEnvironment
from rookery.errors import RookeryError
from rookery.spec.data import InputJob, OutputJob
from rookery.spec.job import Job, RankJob
from rookery.spec.launch import Launcher, LaunchJob
from rookery.spec.logs import driver_log_name
from rookery.spec.paths import NodePaths, WorkspacePaths
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.run import MASK, RunKind, RunSpec

__all__ = ["DataJob", "JobLimits", "as_finisher", "make_job", "mask_job", "read_job", "write_job"]

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class JobLimits:
    """Settings that an agent goes by."""

    cancel_grace_s: float
    heartbeat_s: float
    keep_work: bool = False
    failure_grace_s: float = 0.5
    stall_timeout_s: float = 0.0


@dataclasses.dataclass(frozen=True)
class DataJob:
    """What a node is told of data."""

    inputs: tuple[InputJob, ...] = ()
    outputs: tuple[OutputJob, ...] = ()
    cache_bytes: int = 0


def make_job(
    paths: WorkspacePaths,
    spec: RunSpec,
    attempt: int,
    node: int,
    grants: Sequence[Grant],
    built: BuiltEnvironment,
    around: Surroundings,
    agent_token: str,
    socket: str,
    limits: JobLimits,
    watched_folder: str = "",
    ground: Optional[Ground] = None,
    data: Optional[DataJob] = None,
) -> Job:
    """One node's share of an attempt. `grants` has one entry per node of the gang; none for interactive
    runs. `ground` says where it runs when that is not this machine."""
    ground = ground or ground_here(paths)
    node_paths = ground.paths.attempt(spec.run_id, attempt).node(node)
    watches = spec.kind == RunKind.INTERACTIVE
    per_node = 1 if watches else spec.processes_per_node
    num_nodes = max(1, len(grants))
    world_size = per_node * num_nodes
    grant = grants[node] if grants else Grant("")
    servers = _num_servers(spec)
    numbers = [node * per_node + i for i in range(per_node)] + [
        world_size + i for i in range(servers if not node else 0)
    ]
    ranks = tuple(
        _rank_job(spec, attempt, node, rank, i, world_size, node_paths, socket, grant, built, around, servers)
        for i, rank in enumerate(numbers)
    )
    return Job(
        run_id=spec.run_id,
        attempt=attempt,
        node=node,
        mode="watch" if watches else "run",
        token=agent_token,
        keeper=ground.keeper,
        world_size=world_size,
        ranks=ranks,
        snapshot_id=spec.snapshot_id,
        content_root=ground.content,
        payload_root=around.payload,
        work=watched_folder if watches else node_paths.work(spec.run_id),
        watched_pid=spec.watched.pid if spec.watched else 0,
        watched_start_ticks=spec.watched.start_ticks if spec.watched else 0,
        collect_outputs=spec.collect_outputs,
        watch_folders=spec.watch_folders,
        max_duration_s=None if watches else spec.max_duration_s,
        cancel_grace_s=limits.cancel_grace_s if spec.cancel_grace_s is None else spec.cancel_grace_s,
        failure_grace_s=limits.failure_grace_s,
        # A single process may well sleep for an hour on purpose; only its own variable has it watched.
        stall_timeout_s=limits.stall_timeout_s if spec.launcher != "none" else 0.0,
        heartbeat_s=limits.heartbeat_s,
        keep_work=limits.keep_work,
        socket=socket,
        container=dataclasses.replace(built.container, gpus=built.container.gpus and bool(grant.gpus))
        if built.container
        else None,
        launch=None if watches else _launch_job(spec, num_nodes, grant, around, socket),
        environment=built.on_node,
        thread_share=0 if ground.is_here else processes_sharing(spec),
        inputs=data.inputs if data else (),
        data_outputs=data.outputs if data else (),
        data_cache=ground.paths.data_cache if data else "",
        data_cache_bytes=data.cache_bytes if data else 0,
    )


def as_finisher(job: Job) -> Job:
    """The same share, for an agent that only ships what is on disk."""
    return dataclasses.replace(job, mode="finish")


def write_job(node_paths: NodePaths, job: Job) -> None:
    """job.json, whole or not at all; readable by its owner only, because tokens are in it."""
    os.makedirs(node_paths.root, exist_ok=True)
    temporary = node_paths.job + ".new"
    with open(temporary, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
        json.dump(to_plain(job), f)
    os.replace(temporary, node_paths.job)


def read_job(node_paths: NodePaths) -> Optional[Job]:
    try:
        with open(node_paths.job, encoding="utf-8") as f:
            return from_plain(Job, json.load(f))
    except (OSError, ValueError, RookeryError):
        return None


def mask_job(node_paths: NodePaths, names: Sequence[str]) -> None:
    """Take the values of secret variables out of a job.json that nobody will run by any more."""
    job = read_job(node_paths)
    if job is None:
        return
    masks = dict.fromkeys(names, MASK)
    ranks = tuple(dataclasses.replace(rank, variables={**rank.variables, **masks}) for rank in job.ranks)
    try:
        write_job(node_paths, dataclasses.replace(job, ranks=ranks))
    except OSError as error:
        log.warning("Secret values could not be taken out of %s: %s", node_paths.job, error)


def _rank_job(
    spec: RunSpec,
    attempt: int,
    node: int,
    rank: int,
    local_rank: int,
    world_size: int,
    node_paths: NodePaths,
    socket: str,
    grant: Grant,
    built: BuiltEnvironment,
    around: Surroundings,
    num_servers: int = 0,
) -> RankJob:
    variables = rank_variables(
        spec, attempt, node, rank, world_size, node_paths, socket, grant, built, around, local_rank
    )
    argv: tuple[str, ...] = ()
    if spec.script:
        argv = (built.python, spec.script, *spec.arguments)
    return RankJob(
        rank=rank,
        local_rank=local_rank,
        argv=argv,
        shell=spec.command or "",
        variables=variables,
        cpus=grant.cpus,
        log_name="" if spec.kind == RunKind.INTERACTIVE else driver_log_name(rank, world_size + num_servers),
        background=rank >= world_size,
    )


def _num_servers(spec: RunSpec) -> int:
    """TensorFlow's parameter servers; all of them live on node 0, beside the chief, and end with it."""
    return int(spec.launcher_options.get("parameter_server_count") or 0) if spec.launcher == Launcher.TENSORFLOW else 0


def _launch_job(spec: RunSpec, num_nodes: int, grant: Grant, around: Surroundings, socket: str) -> Optional[LaunchJob]:
    """How the agents of the gang find each other; None for a run of one process."""
    per_node = spec.processes_per_node
    if spec.launcher == Launcher.NONE and num_nodes * per_node == 1:
        return None
    folder, name = os.path.split(socket)
    return LaunchJob(
        launcher=Launcher.PER_PROCESS if spec.launcher == Launcher.NONE else spec.launcher,
        node_count=num_nodes,
        processes_per_node=per_node,
        address=around.node_address,
        one_machine=around.one_machine,
        secret=around.launch_secret,
        backend=str(spec.launcher_options.get("backend") or ""),
        channel=os.path.join(folder, "m" + name[1:]) if name else "",
        has_gpus=bool(grant.gpus) or around.node_gpus,
        workers=num_nodes * per_node,
        warnings=_launch_warnings(spec, num_nodes, grant, around),
    )


def _launch_warnings(spec: RunSpec, num_nodes: int, grant: Grant, around: Surroundings) -> tuple[str, ...]:
    words = []
    per_node = spec.processes_per_node
    if around.one_machine and not grant.gpus and len(grant.cpus) < per_node and num_nodes > 1:
        cores = "1 core" if len(grant.cpus) == 1 else f"{len(grant.cpus)} cores"
        words.append(
            f"{num_nodes} nodes share this machine: each has {cores} for {per_node} processes, so they will be slower "
            "than on machines of their own."
        )
    if (
        not (grant.gpus or around.node_gpus)
        and spec.launcher_options.get("backend") == "nccl"
        and spec.launcher == Launcher.PER_PROCESS
    ):
        words.append(
            "communication_backend is nccl, but this node has no GPU, and NCCL needs CUDA: a script that calls "
            "init_process_group('nccl') will fail here. Let it choose by torch.cuda.is_available(), or say 'gloo'."
        )
    return tuple(words)
