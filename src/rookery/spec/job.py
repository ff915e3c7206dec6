"""What an agent is told: one node's share of one attempt, as job.json. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.spec.container import ContainerSpec
from rookery.spec.data import InputJob, OutputJob
from rookery.spec.launch import LaunchJob

__all__ = [
    "NODE_BIN",
    "NODE_HOME",
    "NODE_PATH",
    "NODE_PYTHON",
    "NODE_RUNTIME",
    "NODE_TRACKING",
    "Job",
    "KeeperAddress",
    "RankJob",
]

# Places that only the node knows. A job for another machine holds these instead, anywhere in its strings.
NODE_HOME = (
    "@ROOKERY_NODE_HOME@"  # Reach.node_home there, absolute. Replaced by the boot program in the job's whole text
)
NODE_RUNTIME = "@ROOKERY_RUNTIME@"  # a short private folder for sockets there. Replaced by the boot program
NODE_PATH = "@ROOKERY_PATH@"  # the PATH that the engine's program has there. Replaced by the boot program
NODE_PYTHON = "@ROOKERY_PYTHON@"  # the interpreter of the environment that is built there. Replaced by the agent
NODE_BIN = "@ROOKERY_BIN@"  # the folder of that interpreter's programs. Replaced by the agent
NODE_TRACKING = "@ROOKERY_TRACKING@"  # where MLflow's calls of ranks are taken. Replaced by the agent


@dataclass(frozen=True)
class KeeperAddress:
    """How an agent reaches its keeper, and starts one on its own machine when none answers."""

    endpoint_file: str = ""  # keeper.json; read again at every reconnect, because a new keeper may have another socket
    url: str = ""  # for agents on other machines: the listener that takes run tokens only
    certificate: str = ""  # PEM text: what to trust when `url` is https and the certificate is the keeper's own
    spool: str = ""  # instead of `url`: folder on shared files for requests and answers
    start_command: tuple[str, ...] = ()  # ensures that a keeper runs, returns when it answers
    urls: tuple[str, ...] = ()  # more addresses like `url`, tried in this order when it cannot be reached


@dataclass(frozen=True)
class RankJob:
    """One user process. `argv` is final except for $NAME, which the agent expands from the rank's variables."""

    rank: int
    local_rank: int
    argv: tuple[str, ...] = ()
    shell: str = ""  # instead of argv: a line for /bin/sh, where the shell expands variables
    variables: dict[str, str] = field(default_factory=dict)
    cpus: tuple[int, ...] = ()  # cores to pin to; empty: no pinning
    log_name: str = ""  # as stored: azureml-logs/70_driver_log.txt
    background: bool = False  # not waited for: it is stopped when the others of its node have ended


@dataclass(frozen=True)
class Job:
    """job.json. mode 'run' starts ranks; 'watch' follows the user's own process; 'finish' only ships what is on disk.

    'finish' is how an attempt whose agent died is brought to its end: journals, logs and outputs are shipped. If there
    is an outcome.json it is reported as it is, otherwise the node is reported as lost.
    """

    run_id: str
    attempt: int
    node: int
    mode: str
    token: str
    keeper: KeeperAddress
    world_size: int = 1
    ranks: tuple[RankJob, ...] = ()
    snapshot_id: Optional[str] = None
    content_root: str = ""  # the content store where this machine can read it; else blobs come over HTTP
    payload_root: str = ""
    work: str = ""  # the working folder; for mode 'watch' the user's current folder
    watched_pid: int = 0
    watched_start_ticks: int = 0
    collect_outputs: bool = True
    outputs: str = "outputs"  # folder below `work` that is collected at the end
    watch_folders: tuple[str, ...] = ("logs",)
    max_duration_s: Optional[int] = None
    cancel_grace_s: float = 10.0
    failure_grace_s: float = 0.5  # for the ranks beside one that failed, between SIGTERM and SIGKILL
    stall_timeout_s: float = 0.0  # how long nothing may move before the run counts as stalled; 0: for ever
    heartbeat_s: float = 5.0
    keep_work: bool = False
    socket: str = ""  # where the agent listens for its ranks (short: socket paths are limited to about 108 bytes)
    container: Optional[ContainerSpec] = None  # its ranks live in containers
    launch: Optional[LaunchJob] = None  # how its processes find each other; None for a single process
    environment: Optional[dict[str, Any]] = None  # to be built on the node first (environments.resolve_for_node)
    thread_share: int = (
        0  # where no cores are given: so many processes share the node's; sets OMP_NUM_THREADS and its like
    )
    inputs: tuple[InputJob, ...] = ()  # data to be there before ranks start (docs/inside/data.md)
    data_outputs: tuple[OutputJob, ...] = ()  # data to be brought back when they have completed
    data_cache: str = ""  # where trees and contents of inputs are kept on this machine
    data_cache_bytes: int = 0
    extra: dict[str, Any] = field(default_factory=dict)
