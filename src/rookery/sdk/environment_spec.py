"""From an Environment to what the keeper is told: an EnvironmentSpec."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import RunConfigError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.environment_sections import DockerSection
from rookery.sdk.run_config_elements import DockerConfiguration
from rookery.sdk.secret import mask_variables
from rookery.spec.run import EnvironmentSpec

if TYPE_CHECKING:
    from rookery.sdk.environment import Environment

__all__ = ["check_variables", "environment_spec"]


def environment_spec(environment: Environment, docker: Optional[DockerConfiguration] = None) -> EnvironmentSpec:
    """The environment as data; `docker` is what the run says about containers."""
    python, conda = environment.python, environment.python.conda_dependencies
    managed_by_user = bool(python.user_managed_dependencies)
    is_default = conda is None or conda.as_dict() == CondaDependencies().as_dict()
    return EnvironmentSpec(
        name=environment.name,
        version=None if environment.version is None else str(environment.version),
        user_managed=managed_by_user,
        python=_interpreter(str(python.interpreter_path or "python")) if managed_by_user else sys.executable,
        conda=None if managed_by_user or is_default or conda is None else conda.as_dict(),
        docker=_docker(environment, docker or DockerConfiguration()),
        variables=check_variables(environment.environment_variables, "environment.environment_variables"),
    )


def check_variables(variables: Any, what: str) -> dict[str, str]:
    """Names and texts, secrets masked; RunConfigError for what no process can be given."""
    if not isinstance(variables or {}, dict):
        raise RunConfigError(f"{what} is {type(variables).__name__}. Give a dictionary, such as {{'NAME': 'value'}}.")
    for name in variables or {}:
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise RunConfigError(f"{what}: {name!r} is no name of an environment variable.")
    return {k: str(v) for k, v in mask_variables(variables or {}).items() if v is not None}


def _interpreter(path: str) -> str:
    """Plain 'python' is the Python that submits; a path is made absolute, a name is looked up where it can
    be found."""
    if path == "python":
        return sys.executable
    if os.path.dirname(path):
        return os.path.abspath(os.path.expanduser(path))
    return shutil.which(path) or path


def _docker(environment: Environment, runtime: DockerConfiguration) -> Optional[dict[str, Any]]:
    """What was said about images; None when nothing was. Passwords stay here: the record is read by many.

    `runtime.interpreter` is the interpreter as it was named, which is the one to look for inside an image.
    """
    section = environment.docker
    if section is None:
        return None
    data = section.to_dict()
    if data == DockerSection().to_dict() and runtime.to_dict() == DockerConfiguration().to_dict():
        return None
    if isinstance(data.get("baseImageRegistry"), dict):
        data["baseImageRegistry"]["password"] = None
    interpreter = str(environment.python.interpreter_path or "python")
    return {**data, "runtime": {**runtime.to_dict(), "interpreter": interpreter}}
