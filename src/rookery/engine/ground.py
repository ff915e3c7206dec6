"""Where a job runs: on this machine, on another one that sees our files, or on one that does not."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional
from urllib.parse import urlsplit

from rookery.engine.reach.certificates import certificate_for_nodes
from rookery.engine.runtime import agent_socket
from rookery.spec.compute import ClusterSpec, Reach
from rookery.spec.engine_options import EMBEDDED
from rookery.spec.job import NODE_HOME, NODE_PATH, NODE_RUNTIME, KeeperAddress
from rookery.spec.paths import WorkspacePaths

__all__ = ["Ground", "builds_on_nodes", "far_ground", "ground_here", "is_remote", "keeper_address", "start_command"]


@dataclass(frozen=True)
class Ground:
    """What a job says about its machine.

    paths: the workspace as that machine sees it.
    inherited: the variables that the agent's processes start from.
    """

    paths: WorkspacePaths
    keeper: KeeperAddress
    content: str = ""  # the content store, where it can be read
    inherited: Mapping[str, str] = field(default_factory=dict)
    is_here: bool = True

    def socket(self, node_root: str) -> str:
        """Where the agent listens for its ranks."""
        if self.is_here:
            return agent_socket(node_root)
        return f"{NODE_RUNTIME}/{os.path.basename(agent_socket(node_root))}"


def is_remote(spec: Optional[ClusterSpec]) -> bool:
    return spec is not None and spec.engine != EMBEDDED


def builds_on_nodes(spec: Optional[ClusterSpec]) -> bool:
    """Whether environments are built where they are used, because what is built here is not seen there."""
    return is_remote(spec) and spec is not None and not (spec.reach.shared_files and spec.reach.shared_environments)


def ground_here(paths: WorkspacePaths) -> Ground:
    keeper = KeeperAddress(endpoint_file=paths.endpoint, start_command=start_command(paths))
    return Ground(paths, keeper, paths.content, os.environ)


def far_ground(paths: WorkspacePaths, reach: Reach, run_id: str, attempt: int, node: int) -> Ground:
    """The ground of one node on another machine."""
    keeper = keeper_address(paths, reach, paths.spool_of(run_id, attempt, node))
    inherited = {"PATH": NODE_PATH}
    if reach.shared_files:
        return Ground(paths, keeper, paths.content, inherited, is_here=False)
    return Ground(WorkspacePaths(NODE_HOME), keeper, "", inherited, is_here=False)


def keeper_address(paths: WorkspacePaths, reach: Reach, spool: str = "") -> KeeperAddress:
    """How agents on other machines reach the keeper: at the listener that faces them, whose port may have changed since the
    target was attached, or through a shared folder."""
    if reach.transport == "spool":
        return KeeperAddress(spool=spool)
    urls = _listening(paths)
    host = urlsplit(reach.keeper_url).hostname
    own = [url for url in urls if urlsplit(url).hostname == host]
    chosen = reach.keeper_url if reach.keeper_url in own or not own else own[0]
    others = tuple(url for url in urls if url != chosen)
    return KeeperAddress(
        url=chosen or next(iter(urls), ""),
        certificate=certificate_for_nodes(paths.root),
        urls=others,
        spool=spool if reach.shared_files else "",
    )


def start_command(paths: WorkspacePaths) -> tuple[str, ...]:
    """How an agent on this machine gets a keeper when none answers."""
    return (sys.executable, "-E", "-s", "-m", "rookery.client.start", paths.root)


def _listening(paths: WorkspacePaths) -> list[str]:
    try:
        with open(paths.endpoint, encoding="utf-8") as f:
            data: Any = json.load(f)
        return [str(url) for url in (data.get("agents") or {}).get("urls") or ()]
    except (OSError, ValueError, AttributeError):
        return []
