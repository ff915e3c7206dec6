"""Attaching a target on other machines: its engine is started, and a node is asked what it sees, before any run is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional

from rookery.engine.certificates import certificate_for_nodes
from rookery.engine.compute import Computes
from rookery.engine.engines.registry import Engines
from rookery.engine.ground import is_remote
from rookery.engine.reach_check import FATAL, Check, Surroundings, as_plain, check_reach
from rookery.errors import ComputeError, ConflictError
from rookery.spec.compute import ClusterSpec
from rookery.spec.paths import WorkspacePaths

__all__ = ["Attaching", "Listener"]

START_S = 300.0  # for an engine to come up: Ray's bridge makes an environment of the cluster's version first
Listener = Callable[[str], str]


class Attaching:
    """Not for the controller's thread: all of it may take minutes."""

    def __init__(self, computes: Computes, engines: Engines, paths: WorkspacePaths) -> None:
        self._computes, self._engines, self._paths = computes, engines, paths

    def attach(self, name: str, spec: ClusterSpec, listener: Optional[Listener], check: bool) -> dict[str, Any]:
        """Create the target; nothing is left of it when it cannot be used.

        Raises:
            ComputeError: says what is wrong and what to do; `details["checks"]` has everything that was looked at.
        """
        self._computes.create(name, spec, held=f"'{name}' is being attached" if check else "")
        if not check:
            return self._computes.get(name)
        try:
            checks = self._look(name, listener)
            bad = [c for c in checks if not c.ok and c.check in FATAL]
            if bad:
                raise ComputeError(
                    f"Compute target '{name}' cannot be attached. {bad[0].words} {bad[0].advice}".strip(),
                    details={"checks": as_plain(checks)},
                )
        except BaseException:
            try:
                self._computes.delete(name)
            except ConflictError:
                self._engines.hold(
                    name, ""
                )  # somebody was quick and has submitted to it: it stays, and says what is wrong
            raise
        self._engines.hold(name, "")
        return {**self._computes.get(name), "checks": as_plain(checks)}

    def check(self, name: str, listener: Optional[Listener]) -> list[dict[str, Any]]:
        """What is found now; what had been left open of its reach is kept."""
        if not is_remote(self._computes.spec(name)):
            return as_plain([Check("engine", True, f"'{name}' is this machine.")])
        return as_plain(self._look(name, listener))

    def _look(self, name: str, listener: Optional[Listener]) -> list[Check]:
        attached = self._engines.attached(name)
        if attached is None or not attached.wait_usable(START_S) or attached.engine is None:
            problem = attached.fault if attached else f"'{name}' is gone."
            return [Check("engine", False, problem, "See that it runs and can be reached from here, then try again.")]
        spec = self._computes.spec(name)
        around = Surroundings(
            self._paths,
            _workspace_id(self._paths),
            listener,
            certificate_for_nodes(self._paths.root),
            _environments_folder(),
        )
        checks, reach = check_reach(name, spec, attached.engine, around)
        if reach != spec.reach:
            self._computes.replace_spec(name, replace(self._computes.spec(name), reach=reach))
        attached.refresh()
        return checks


def _workspace_id(paths: WorkspacePaths) -> str:
    try:
        with open(paths.identity, encoding="utf-8") as f:
            return str(json.load(f).get("id", ""))
    except (OSError, ValueError):
        return ""


def _environments_folder() -> str:
    from rookery.environments.building.folders import environments_folder  # loaded when first needed

    return environments_folder()
