"""The Python that a bridge runs in: one with the cluster's Ray, given or built."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable

from rookery.errors import ComputeError
from rookery.spec.engine_options import RayOptions
from rookery.spec.run import EnvironmentSpec

__all__ = ["NEWEST", "bridge_variables", "find_interpreter", "wanted_versions"]

NEWEST = "2.60.0"  # tried where nothing is known: the cluster then says what it has
_DROPPED = ("ROOKERY_", "AZUREML_", "PYTHON", "RAY_")


def wanted_versions(options: RayOptions, learned: dict[str, str]) -> tuple[str, str]:
    """(Ray, Python) of the bridge: what the cluster has told, else what the target says, else ours."""
    python = learned.get("python") or options.python or platform.python_version()
    return learned.get("ray") or options.ray_version or NEWEST, ".".join(python.split(".")[:2])


def find_interpreter(options: RayOptions, learned: dict[str, str], holder: str, log: Callable[[bytes], None]) -> str:
    """The path of an interpreter that has Ray. Builds an environment (once per machine and version) where none is given.

    Raises:
        RookeryError: it cannot be had; says why.
    """
    if options.bridge_python:
        if not os.access(options.bridge_python, os.X_OK):
            raise ComputeError(f"bridge_python={options.bridge_python!r} is no program on this machine.")
        return options.bridge_python
    from rookery.environments import prepare
    from rookery.environments.building import leases

    ray, python = wanted_versions(options, learned)
    packages = [f"ray[client]=={ray}"]
    spec = EnvironmentSpec(name=f"ray-bridge-{ray}", conda={"dependencies": [f"python={python}", {"pip": packages}]})
    built = prepare(spec, log, again=True)
    if built.key:
        leases.hold(built.key, holder, os.getpid())
    return built.python


def bridge_variables(options: RayOptions) -> dict[str, str]:
    """The bridge's environment: ours without what belongs to a run or to another cluster, and the cluster's token.

    Raises:
        ComputeError: there is no token where one is wanted.
    """
    variables = {k: v for k, v in os.environ.items() if not k.startswith(_DROPPED)}
    variables.update({"RAY_AUTH_MODE": options.auth, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1"})
    if options.auth == "token":
        path = options.token_path or os.environ.get("RAY_AUTH_TOKEN_PATH") or os.path.expanduser("~/.ray/auth_token")
        if not os.path.isfile(path):
            raise ComputeError(
                f"The token of the Ray cluster is not there: {path} is no file. Put the cluster's token there "
                "(`ray get-auth-token` prints it on the head), give token_path, or auth=disabled for a cluster without."
            )
        variables["RAY_AUTH_TOKEN_PATH"] = path
    return variables
