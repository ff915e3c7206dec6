"""What an agent on another machine knows about its node, and settles itself: address, cores, GPUs. See docs/inside/node.md."""

from __future__ import annotations

import glob
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Optional

from rookery.spec.job import Job, RankJob

__all__ = ["NodeFacts", "node_facts", "settle"]

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_OUTSIDE = (
    ("192.0.2.1", socket.AF_INET),
    ("2001:db8::1", socket.AF_INET6),
)  # addresses for documentation: nobody has them


@dataclass(frozen=True)
class NodeFacts:
    """What the boot program found (`extra.node` of job.json).

    home: the folder for code, environments, caches and runs. shared: the workspace's folder is seen here, and the run's files
    lie there. name: the engine's. cpus: of the engine's reservation, 0 where it did not say.
    """

    home: str
    shared: bool = False
    name: str = ""
    cpus: int = 0
    cache_bytes: int = 0
    unused_s: float = 0.0

    @property
    def shown(self) -> str:
        """Its name for people."""
        return self.name or socket.gethostname()

    @property
    def content(self) -> str:
        """The cache of contents, by hash."""
        return os.path.join(self.home, "content")


def node_facts(job: Job) -> Optional[NodeFacts]:
    """None where the agent is on its keeper's machine."""
    given = job.extra.get("node")
    if not isinstance(given, dict):
        return None
    return NodeFacts(
        home=str(given["home"]),
        shared=bool(given.get("shared")),
        name=str(given.get("name") or ""),
        cpus=int(given.get("cpus") or 0),
        cache_bytes=int(given.get("cache_bytes") or 0),
        unused_s=float(given.get("unused_s") or 0),
    )


def settle(job: Job, outer: Mapping[str, str] = os.environ) -> Job:
    """The job with what only this node can tell."""
    facts = node_facts(job)
    if facts is None:
        return job
    launch = job.launch
    if launch is not None:
        address = launch.address or ("" if job.keeper.url else _facing_address())
        launch = replace(launch, address=address, has_gpus=launch.has_gpus or _has_gpus(outer))
    ranks = tuple(_with_threads(rank, job.thread_share, facts.cpus or _num_cores()) for rank in job.ranks)
    return replace(job, launch=launch, ranks=ranks)


def _with_threads(rank: RankJob, share: int, cores: int) -> RankJob:
    """As many threads as its part of the cores, where the keeper did not give it any: two processes with all cores each are
    slower than one."""
    if not share or rank.cpus:
        return rank
    threads = str(max(1, cores // share))
    return replace(rank, variables={**dict.fromkeys(_THREADS, threads), **rank.variables})


def _num_cores() -> int:
    return len(os.sched_getaffinity(0))


def _has_gpus(outer: Mapping[str, str]) -> bool:
    """The engine's reservation says which; where it says nothing, those of the machine."""
    given = outer.get("CUDA_VISIBLE_DEVICES")
    return bool(glob.glob("/dev/nvidia[0-9]*")) if given is None else given.strip() not in ("", "-1", "NoDevFiles")


def _facing_address() -> str:
    """The address of the interface that leads out, for agents that have no keeper's address to look towards."""
    for address, family in _OUTSIDE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))  # sends nothing: it asks the routing table
                return str(probe.getsockname()[0])
        except OSError:
            continue
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"
