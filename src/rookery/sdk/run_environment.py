"""The environment of a run, read back from its specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rookery.sdk.environment import Environment

__all__ = ["environment_of_run"]


def environment_of_run(spec: dict[str, Any]) -> Environment:
    """An Environment that submits to the same software. `spec` is RunSpec.environment as the keeper tells
    it."""
    from rookery.sdk.conda_dependencies import CondaDependencies
    from rookery.sdk.environment import Environment
    from rookery.sdk.environment_sections import DockerSection
    from rookery.sdk.secret import unmask_variables

    environment = Environment(spec["name"])
    environment.version = spec["version"]
    environment.environment_variables = unmask_variables(spec["variables"])
    environment.python.user_managed_dependencies = spec["user_managed"]
    environment.python.interpreter_path = spec["python"] or "python"
    if spec["conda"] is not None:
        environment.python.conda_dependencies = CondaDependencies(_underlying_structure=spec["conda"])
    if spec["docker"]:
        said = {key: value for key, value in spec["docker"].items() if key != "runtime"}
        environment.docker = DockerSection.from_dict(said)
    return environment
