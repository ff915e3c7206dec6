"""Environment: the software of a run, as a specification. Registering and building it is the next issue's
work."""

from __future__ import annotations

import copy
import json
import os
from typing import Any, Optional

from rookery.errors import UnsupportedError, UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.element import Element
from rookery.sdk.environment_sections import (
    DatabricksSection,
    DockerSection,
    PythonSection,
    RSection,
    SparkSection,
)

__all__ = ["Environment", "EnvironmentDefinition", "EnvironmentReference", "check_environment_name"]

ENVIRONMENT_FILE = "azureml_environment.json"
CONDA_FILE = "conda_dependencies.yml"
DOCKERFILE = "BaseDockerfile"
RESERVED_PREFIXES = ("azureml", "microsoft")


class Environment(Element):
    """Software by name: `python`, `docker`, `spark`, `databricks`, `r` and `environment_variables`."""

    _element_types = {"r": RSection}

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name = check_environment_name(name)
        self.version: Optional[str] = None
        self.asset_id: Optional[str] = None
        self.environment_variables: dict[str, str] = {}
        self.python = PythonSection(**kwargs)
        self.docker = DockerSection(**kwargs)
        self.spark = SparkSection(**kwargs)
        self.databricks = DatabricksSection(**kwargs)
        self.r: Optional[RSection] = None
        self.inferencing_stack_version: Optional[str] = None

    def clone(self, new_name: str) -> Environment:
        """A copy to edit, without version, under a name of your own."""
        made = copy.deepcopy(self)
        made.name = check_environment_name(new_name, own=True)
        made.version = None
        made.asset_id = None
        return made

    def save_to_directory(self, path: str, overwrite: bool = False) -> None:
        """Write azureml_environment.json and, where there is one, conda_dependencies.yml and BaseDockerfile.

        Raises:
            UserError: the folder exists and `overwrite` is not set.
        """
        if os.path.exists(path) and not overwrite:
            raise UserError(f"{path} exists already. Give another folder, or overwrite=True.")
        os.makedirs(path, exist_ok=True)
        _write(os.path.join(path, ENVIRONMENT_FILE), self._text())
        for file_name, text in ((CONDA_FILE, self._conda_text()), (DOCKERFILE, self.docker.base_dockerfile)):
            target = os.path.join(path, file_name)
            if text is not None:
                _write(target, text)
            elif os.path.exists(target):
                os.remove(target)  # of an earlier save: it would contradict the JSON

    @staticmethod
    def load_from_directory(path: str) -> Environment:
        """What `save_to_directory` wrote.

        Raises:
            FileNotFoundError: there is no azureml_environment.json in the folder.
        """
        file_path = os.path.join(path, ENVIRONMENT_FILE)
        if not os.path.isfile(file_path):
            raise FileNotFoundError(
                f"There is no {ENVIRONMENT_FILE} in {path}. Environment.save_to_directory writes one."
            )
        with open(file_path, encoding="utf-8") as f:
            try:
                data = json.load(f)
            except ValueError as error:
                raise UserError(f"{file_path} is not valid JSON: {error}") from error
        environment = Environment.from_dict(data)
        conda_path = os.path.join(path, CONDA_FILE)
        if os.path.isfile(conda_path):
            environment.python.conda_dependencies = CondaDependencies(conda_path)
        dockerfile = os.path.join(path, DOCKERFILE)
        if os.path.isfile(dockerfile):
            with open(dockerfile, encoding="utf-8") as f:
                environment.docker.base_dockerfile = f.read()
        return environment

    @classmethod
    def from_dict(cls, data: Any) -> Environment:
        if not isinstance(data, dict) or not data.get("name"):
            raise UserError("An environment is a mapping with at least 'name'.")
        environment = cls(data["name"])
        environment._update(data)
        return environment

    def register(self, workspace: Any) -> Environment:
        raise _later("Environment.register")

    @staticmethod
    def label(workspace: Any, name: str, version: str, labels: Any) -> None:
        raise _later("Environment.label")

    @staticmethod
    def get(workspace: Any, name: str, version: Optional[str] = None, label: Optional[str] = None) -> Environment:
        if version is not None and label is not None:
            raise UserError(f"version={version!r} and label={label!r} were given; only one of them is allowed.")
        raise _later("Environment.get")

    @staticmethod
    def list(workspace: Any) -> dict[str, Environment]:
        raise _later("Environment.list")

    @staticmethod
    def from_conda_specification(name: str, file_path: str) -> Environment:
        raise _later("Environment.from_conda_specification")

    @staticmethod
    def from_existing_conda_environment(name: str, conda_environment_name: str) -> Optional[Environment]:
        raise _later("Environment.from_existing_conda_environment")

    @staticmethod
    def from_pip_requirements(name: str, file_path: str, pip_version: Optional[str] = None) -> Environment:
        raise _later("Environment.from_pip_requirements")

    @staticmethod
    def from_docker_image(
        name: str,
        image: str,
        container_registry: Any = None,
        conda_specification: Any = None,
        pip_requirements: Any = None,
    ) -> Environment:
        raise _later("Environment.from_docker_image")

    @staticmethod
    def from_dockerfile(
        name: str, dockerfile: str, conda_specification: Any = None, pip_requirements: Any = None
    ) -> Environment:
        raise _later("Environment.from_dockerfile")

    @staticmethod
    def from_docker_build_context(name: str, docker_build_context: Any) -> Environment:
        raise _later("Environment.from_docker_build_context")

    @staticmethod
    def add_private_pip_wheel(workspace: Any, file_path: str, exist_ok: bool = False) -> str:
        raise _later("Environment.add_private_pip_wheel")

    def get_image_details(self, workspace: Any) -> Any:
        raise _later("Environment.get_image_details")

    def build(self, workspace: Any, image_build_compute: Optional[str] = None) -> Any:
        raise _later("Environment.build")

    def build_local(self, workspace: Any, platform: Any = None, **kwargs: Any) -> Any:
        raise _later("Environment.build_local")

    def __repr__(self) -> str:
        return self._text()

    def _text(self) -> str:
        return json.dumps(self.to_dict(), indent=4, sort_keys=True)

    def _conda_text(self) -> Optional[str]:
        conda = self.python.conda_dependencies
        return conda.serialize_to_string() if conda is not None and not self.python.user_managed_dependencies else None


class EnvironmentDefinition(Environment):
    """The older name of Environment; its name may be left out."""

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__(name or "default-environment")


class EnvironmentReference(Element):
    """A registered environment by name and version."""

    def __init__(self, name: str = "", version: Optional[str] = None) -> None:
        self.name = name
        self.version = version

    def get_environment(self, workspace: Any) -> Environment:
        return Environment.get(workspace, self.name, self.version)


def check_environment_name(name: Any, own: bool = False) -> str:
    """The name, or UserError. `own`: names of curated environments are refused."""
    if not isinstance(name, str) or not name.strip() or len(name) > 255 or any(ord(c) < 32 or c in "/\\" for c in name):
        raise UserError(
            f"{name!r} is not a valid environment name. It has 1 to 255 characters, without slashes and "
            "control characters."
        )
    if own and name.lower().startswith(RESERVED_PREFIXES):
        raise UserError(
            f"Environment name {name!r} is reserved: names that start with AzureML or Microsoft belong to "
            "curated environments. Choose another."
        )
    return name


def _later(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is not available yet: this version of Rookery runs in the interpreter that submits, or in "
        "one named by "
        "environment.python.user_managed_dependencies = True and environment.python.interpreter_path."
    )


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
