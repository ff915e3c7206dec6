"""Attaching a target on other machines: its engine is started, and a node is asked what it sees, before any run is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional
from urllib.parse import urlsplit

from rookery.engine.compute import Computes
from rookery.engine.engines.registry import Engines
from rookery.engine.exporting import exported_reach
from rookery.engine.ground import is_remote, keeper_address
from rookery.engine.reach.certificates import certificate_for_nodes
from rookery.engine.reach.check import FATAL, Check, Surroundings, as_plain, check_reach
from rookery.errors import ComputeError, ConflictError, RookeryError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import KUBERNETES
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
        if spec.engine == KUBERNETES:
            return self._attach_exported(name, exported_reach(spec), listener)
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
        spec = self._computes.spec(name)
        if not is_remote(spec):
            return as_plain([Check("engine", True, f"'{name}' is this machine.")])
        if spec.engine == KUBERNETES:
            return as_plain(self._look_at_exported(name, spec, listener))
        return as_plain(self._look(name, listener))

    def _attach_exported(self, name: str, spec: ClusterSpec, listener: Optional[Listener]) -> dict[str, Any]:
        """No pod can be tried before there is one; what can be seen to is that the keeper listens."""
        self._computes.check_new(name, spec)
        checks = self._look_at_exported(name, spec, listener)
        bad = next((c for c in checks if not c.ok), None)
        if bad is not None:
            raise ComputeError(
                f"Compute target '{name}' cannot be attached. {bad.words} {bad.advice}".strip(),
                details={"checks": as_plain(checks)},
            )
        return {**self._computes.create(name, spec), "checks": as_plain(checks)}

    def _look_at_exported(self, name: str, spec: ClusterSpec, listener: Optional[Listener]) -> list[Check]:
        found = [Check("engine", True, f"'{name}' is Kubernetes: runs wait until somebody applies their manifests.")]
        host = urlsplit(spec.reach.keeper_url).hostname
        advice = "Give keeper_url=http://HOST:PORT, an address of this machine that pods can reach."
        if not host:
            return [*found, Check("keeper", False, "Pods need the address at which they reach the keeper.", advice)]
        try:
            if listener is not None:
                listener(host)
        except RookeryError as error:
            return [*found, Check("keeper", False, error.message, advice)]
        url = keeper_address(self._paths, spec.reach).url
        return [*found, Check("keeper", True, f"Pods are told to look for the keeper at {url}.")]

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
