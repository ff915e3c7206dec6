"""Environment: the software of a run, as a specification."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import EnvironmentBuildError, UnsupportedError, UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.element import Element
from rookery.sdk.environment_sections import (
    DatabricksSection,
    DockerSection,
    PythonSection,
    RSection,
    SparkSection,
)
from rookery.sdk.yaml_text import read_text
from rookery.spec.names import check_environment_name

if TYPE_CHECKING:
    from rookery.sdk.image_build import DockerImageDetails, ImageBuildDetails

__all__ = ["Environment", "EnvironmentDefinition", "EnvironmentReference"]

ENVIRONMENT_FILE = "azureml_environment.json"
CONDA_FILE = "conda_dependencies.yml"
DOCKERFILE = "BaseDockerfile"


class Environment(Element):
    """Software by name: `python`, `docker`, `spark`, `databricks`, `r` and `environment_variables`."""

    _element_types = {"r": RSection}

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name = check_environment_name(name)
        self.version: Optional[str] = None
        self.asset_id: Optional[str] = None
        self.environment_variables: dict[str, Any] = {}
        self.python = PythonSection(**kwargs)
        self.docker = DockerSection(**kwargs)
        self.spark = SparkSection(**kwargs)
        self.databricks = DatabricksSection(**kwargs)
        self.r: Optional[RSection] = None
        self.inferencing_stack_version: Optional[str] = None
        self._maps_to = ""

    def clone(self, new_name: str) -> Environment:
        """A copy to edit, without version, under a name of your own."""
        made = copy.deepcopy(self)
        made.name = check_environment_name(new_name, own=True)
        made.version = None
        made.asset_id = None
        made._maps_to = ""
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
        try:
            data = json.loads(read_text(file_path))
        except (json.JSONDecodeError, RecursionError) as error:
            raise UserError(f"{file_path} is not valid JSON: {error}") from error
        environment = Environment.from_dict(data)
        conda_path = os.path.join(path, CONDA_FILE)
        if os.path.isfile(conda_path):
            environment.python.conda_dependencies = CondaDependencies(conda_path)
        dockerfile = os.path.join(path, DOCKERFILE)
        if os.path.isfile(dockerfile):
            environment.docker.base_dockerfile = read_text(dockerfile)
        return environment

    @classmethod
    def from_dict(cls, data: Any) -> Environment:
        if not isinstance(data, dict) or not data.get("name"):
            raise UserError("An environment is a mapping with at least 'name'.")
        environment = cls(data["name"])
        environment._update(data)
        return environment

    # -- at the keeper

    def register(self, workspace: Any) -> Environment:
        """The registered version ("1", "2", …); the same content again is the version that has it.

        Raises:
            UserError: the name is reserved for curated environments, or a secret variable has no value.
        """
        from rookery.sdk.environment_registry import register_environment

        return register_environment(self, workspace)

    @staticmethod
    def label(workspace: Any, name: str, version: Any, labels: Any) -> None:
        """Let labels point to a version; `get(…, label=…)` finds it."""
        from rookery.sdk.environment_registry import label_environment

        label_environment(workspace, name, version, labels)

    @staticmethod
    def get(workspace: Any, name: str, version: Any = None, label: Optional[str] = None) -> Environment:
        """The latest version, or the one that version or label say; curated ones too.

        Raises:
            EnvironmentNotFoundError: there is none; known names or versions are listed.
        """
        from rookery.sdk.environment_registry import find_environment

        return find_environment(workspace, name, version, label)

    @staticmethod
    def list(workspace: Any) -> dict[str, Environment]:
        """The latest version of every registered environment, and the curated ones, by name."""
        from rookery.sdk.environment_registry import environment_of, list_environments

        return {name: environment_of(data) for name, data in list_environments(workspace).items()}

    def build(self, workspace: Any, image_build_compute: Optional[str] = None) -> ImageBuildDetails:
        """Have it built now, without a run. Where it is built is the keeper's machine, whatever compute is named."""
        from rookery.sdk.environment_registry import build_environment

        return build_environment(self, workspace)

    def build_local(self, workspace: Any, platform: Any = None, **kwargs: Any) -> ImageBuildDetails:
        """Build it on this machine, show the log, return when it is there. `useDocker` changes nothing.

        Raises:
            EnvironmentBuildError: it cannot be built.
        """
        unknown = sorted(set(kwargs) - {"useDocker", "pushImageToWorkspaceAcr"})
        if unknown:
            raise UserError(f"build_local has no {unknown[0]!r}. It has: platform, useDocker, pushImageToWorkspaceAcr.")
        if kwargs.get("pushImageToWorkspaceAcr"):
            raise UnsupportedError(
                "A workspace has no registry of images to push to. Leave pushImageToWorkspaceAcr out."
            )
        details = self.build(workspace).wait_for_completion(show_output=True)
        if details.error:
            raise EnvironmentBuildError(details.error)
        return details

    def get_image_details(self, workspace: Any) -> DockerImageDetails:
        """Whether it is built, and where."""
        from rookery.sdk.environment_registry import image_details

        return image_details(self, workspace)

    @staticmethod
    def add_private_pip_wheel(workspace: Any, file_path: str, exist_ok: bool = False) -> str:
        """Keep a wheel in the workspace; the address for `conda_dependencies.add_pip_package`.

        Raises:
            UserError: it is no wheel, or there is one of that name and `exist_ok` is not set.
        """
        from rookery.sdk.environment_registry import add_wheel

        return add_wheel(workspace, file_path, exist_ok)

    @property
    def maps_to(self) -> str:
        """Of a curated environment: what it holds here, in a sentence. Ours, not v1's."""
        return self._maps_to

    # -- from something that is there

    @staticmethod
    def from_conda_specification(name: str, file_path: str) -> Environment:
        """From a conda environment file."""
        from rookery.sdk import environment_sources

        return environment_sources.from_conda_specification(name, file_path)

    @staticmethod
    def from_existing_conda_environment(name: str, conda_environment_name: str) -> Optional[Environment]:
        """From what `conda env export` says; None, with the reason printed, where conda or the environment is missing."""
        from rookery.sdk import environment_sources

        return environment_sources.from_existing_conda_environment(name, conda_environment_name)

    @staticmethod
    def from_pip_requirements(name: str, file_path: str, pip_version: Optional[str] = None) -> Environment:
        """From a requirements file; its Python is the version used here, which a warning says."""
        from rookery.sdk import environment_sources

        return environment_sources.from_pip_requirements(name, file_path, pip_version)

    @staticmethod
    def from_docker_image(
        name: str,
        image: str,
        container_registry: Any = None,
        conda_specification: Any = None,
        pip_requirements: Any = None,
    ) -> Environment:
        """An image, with packages beside it or with its own Python as it is."""
        from rookery.sdk import environment_sources

        return environment_sources.from_docker_image(
            name, image, container_registry, conda_specification, pip_requirements
        )

    @staticmethod
    def from_dockerfile(
        name: str, dockerfile: str, conda_specification: Any = None, pip_requirements: Any = None
    ) -> Environment:
        """A Dockerfile, by path or as text."""
        from rookery.sdk import environment_sources

        return environment_sources.from_dockerfile(name, dockerfile, conda_specification, pip_requirements)

    @staticmethod
    def from_docker_build_context(name: str, docker_build_context: Any) -> Environment:
        """A folder with a Dockerfile, as DockerBuildContext.from_local_directory took it."""
        from rookery.sdk import environment_sources

        return environment_sources.from_docker_build_context(name, docker_build_context)

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


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
