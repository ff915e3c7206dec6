"""Who uses a built environment, said to the store of environments, so that `rookery env prune` never takes it from a run."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any, Optional

from rookery.environments import BuiltEnvironment
from rookery.environments.building import leases
from rookery.environments.building.folders import EnvironmentFolder

__all__ = ["Holds"]

log = logging.getLogger(__name__)


class Holds:
    """Promises: from the moment a run has its environment until it has ended, a living process stands for it: this keeper, and
    once they are up its agents, which outlive the keeper. All calls may come twice.
    """

    def take(self, run_id: str, built: Optional[BuiltEnvironment]) -> bool:
        """Hold it for a run. False: it is gone and has to be prepared again."""
        if built is None or not built.key:
            return True
        try:
            return leases.hold(built.key, run_id, os.getpid())
        except OSError as error:  # a full disk: better a run that might lose its environment than none
            log.warning("Environment %s cannot be held for run %s: %s", built.key, run_id, error)
            return EnvironmentFolder(built.key).is_built()

    def take_for_agent(self, run_id: str, built: Optional[BuiltEnvironment], node: int, hello: dict[str, Any]) -> None:
        """An agent is up; if it is on this machine it holds what its ranks use."""
        pid = hello.get("pid")
        if built is None or not built.key or not isinstance(pid, int) or hello.get("hostname") != socket.gethostname():
            return
        try:
            leases.hold(built.key, run_id, pid, holder=f"node-{node}")
        except OSError as error:
            log.warning("Environment %s cannot be held for run %s: %s", built.key, run_id, error)

    def let_go(self, run_id: str, built: Optional[BuiltEnvironment]) -> None:
        if built is not None and built.key:
            leases.release_hold(built.key, run_id)
