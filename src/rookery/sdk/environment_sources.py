"""Environments made from something that is there: conda and requirements files, conda environments, images, Dockerfiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.container_registry import ContainerRegistry
from rookery.sdk.environment import Environment
from rookery.sdk.environment_sections import DockerBuildContext
from rookery.sdk.snapshots import warn
from rookery.sdk.yaml_text import load_yaml, read_text

__all__ = [
    "from_conda_specification",
    "from_docker_build_context",
    "from_docker_image",
    "from_dockerfile",
    "from_existing_conda_environment",
    "from_pip_requirements",
]

CONDA_TIMEOUT_S = 300


def from_conda_specification(name: str, file_path: str) -> Environment:
    environment = Environment(name)
    environment.python.conda_dependencies = CondaDependencies(os.fspath(file_path))
    return environment


def from_pip_requirements(name: str, file_path: str, pip_version: Optional[str] = None) -> Environment:
    version = "{}.{}".format(*sys.version_info)
    environment = Environment(name)
    environment.python.conda_dependencies = _from_requirements(os.fspath(file_path), version, pip_version)
    warn(f"A requirements file names no Python version; environment '{name}' takes {version}, the one used here.")
    return environment


def from_existing_conda_environment(name: str, conda_environment_name: str) -> Optional[Environment]:
    """None, with the reason printed, where conda or the environment is missing."""
    program = os.environ.get("CONDA_EXE") or next(
        filter(None, map(shutil.which, ("conda", "mamba", "micromamba"))), None
    )
    if not program:
        print(f"Environment '{name}' was not made: there is no conda on this machine (looked for it on PATH).")
        return None
    if not isinstance(conda_environment_name, str) or conda_environment_name.startswith("-"):
        raise UserError(f"{conda_environment_name!r} is no name of a conda environment.")
    command = [program, "env", "export", "--no-builds", "-n", conda_environment_name]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=CONDA_TIMEOUT_S, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"Environment '{name}' was not made: `{' '.join(command)}` did not work: {error}")
        return None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        print(f"Environment '{name}' was not made: `{' '.join(command)}` said: {said}")
        return None
    where = f"What conda says of '{conda_environment_name}'"
    data = load_yaml(done.stdout.decode("utf-8", "replace"), where)
    if isinstance(data, dict):
        data.pop("prefix", None)  # a path of this machine
    environment = Environment(name)
    environment.python.conda_dependencies = CondaDependencies(_underlying_structure=data)
    return environment


def from_docker_image(
    name: str,
    image: str,
    container_registry: Optional[ContainerRegistry] = None,
    conda_specification: Any = None,
    pip_requirements: Any = None,
) -> Environment:
    if not isinstance(image, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*", image):
        raise UserError(f"{image!r} is no name of an image, like 'docker.io/library/python:3.11'.")
    environment = Environment(name)
    environment.docker.base_image = image
    if container_registry is not None:
        environment.docker.base_image_registry = container_registry
    return _with_packages(environment, conda_specification, pip_requirements)


def from_dockerfile(
    name: str, dockerfile: str, conda_specification: Any = None, pip_requirements: Any = None
) -> Environment:
    environment = Environment(name)
    environment.docker.base_dockerfile = _dockerfile_text(os.fspath(dockerfile))
    return _with_packages(environment, conda_specification, pip_requirements)


def from_docker_build_context(name: str, docker_build_context: DockerBuildContext) -> Environment:
    if not isinstance(docker_build_context, DockerBuildContext):
        raise UserError(
            f"docker_build_context is {type(docker_build_context).__name__}. Give a DockerBuildContext, as "
            "DockerBuildContext.from_local_directory(ws, path) makes it."
        )
    environment = Environment(name)
    environment.docker.build_context = docker_build_context
    environment.python.user_managed_dependencies = True
    return environment


def _with_packages(environment: Environment, conda_specification: Any, pip_requirements: Any) -> Environment:
    """Packages beside the image; without any, the image's own Python is used as it is."""
    if conda_specification is not None and pip_requirements is not None:
        raise UserError("conda_specification and pip_requirements were given; only one of them is allowed.")
    if conda_specification is not None:
        environment.python.conda_dependencies = CondaDependencies(os.fspath(conda_specification))
    elif pip_requirements is not None:
        version = "{}.{}".format(*sys.version_info)
        environment.python.conda_dependencies = _from_requirements(os.fspath(pip_requirements), version, None)
    else:
        environment.python.user_managed_dependencies = True
    return environment


def _from_requirements(path: str, python_version: str, pip_version: Optional[str]) -> CondaDependencies:
    if not os.path.isfile(path):
        raise FileNotFoundError(f"There is no requirements file {path} (looked from {os.getcwd()}).")
    lines = []
    for raw in re.sub(r"\s*\\\r?\n\s*", " ", read_text(path)).splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if line:
            lines.append(line)
    made = CondaDependencies()
    made.set_python_version(python_version)
    if pip_version is not None:
        made.add_conda_package(f"pip={pip_version}")
    made.set_pip_requirements(lines)
    return made


def _dockerfile_text(given: str) -> str:
    """The text of a Dockerfile that is given as such, or by its path."""
    if "\n" not in given and len(given) < 4096 and os.path.isfile(given):
        return read_text(given)
    if not re.search(r"^\s*FROM\s+\S", given, re.IGNORECASE | re.MULTILINE):
        raise UserError(
            f"dockerfile={given[:80]!r} is neither a file (looked from {os.getcwd()}) nor the text of a Dockerfile, "
            "which has a line like 'FROM image'."
        )
    return given
