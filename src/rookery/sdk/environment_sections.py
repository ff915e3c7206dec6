"""The sections of an Environment: python, docker, spark, databricks, r."""

from __future__ import annotations

import enum
import os
import warnings
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.container_registry import ContainerRegistry
from rookery.sdk.element import Element

__all__ = [
    "DEFAULT_CPU_IMAGE",
    "DEFAULT_GPU_IMAGE",
    "DEFAULT_SHM_SIZE",
    "DatabricksSection",
    "DockerBuildContext",
    "DockerImagePlatform",
    "DockerSection",
    "PythonSection",
    "RCranPackage",
    "RGitHubPackage",
    "RSection",
    "SparkPackage",
    "SparkSection",
]

DEFAULT_CPU_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04:latest"
DEFAULT_GPU_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-cuda11.8-cudnn8-ubuntu22.04:latest"
DEFAULT_SHM_SIZE = "2g"


class PythonSection(Element):
    """Which Python. `user_managed_dependencies`: the interpreter named is used as it is."""

    _element_types = {"conda_dependencies": CondaDependencies}

    def __init__(self, **kwargs: Any) -> None:
        self.interpreter_path = "python"
        self.user_managed_dependencies = False
        self.conda_dependencies: Optional[CondaDependencies] = (
            None if kwargs.get("_skip_defaults") else CondaDependencies()
        )
        self._conda_dependencies_file: Optional[str] = None

    @property
    def conda_dependencies_file(self) -> Optional[str]:
        """Path of the conda file that was read into `conda_dependencies`."""
        return self._conda_dependencies_file

    @conda_dependencies_file.setter
    def conda_dependencies_file(self, path: Optional[str]) -> None:
        if path is not None:
            self.conda_dependencies = CondaDependencies(path)
        self._conda_dependencies_file = path


class DockerImagePlatform(Element):
    def __init__(self) -> None:
        self.os = "Linux"
        self.architecture = "amd64"


class DockerBuildContext(Element):
    class LocationType(enum.Enum):
        Git = "git"
        StorageAccount = "storageAccount"

    def __init__(
        self, location_type: Any = None, location: Optional[str] = None, dockerfile_path: str = "Dockerfile"
    ) -> None:
        self.location_type = location_type
        self.location = location
        self.dockerfile_path = dockerfile_path or "Dockerfile"

    @staticmethod
    def from_local_directory(workspace: Any, path: str, dockerfile_path: str = "Dockerfile") -> DockerBuildContext:
        """Store a folder with a Dockerfile at the keeper, by its content; `location` is `snapshot:<id>`."""
        from rookery.sdk.snapshots import snapshot_folder

        inside = dockerfile_path or "Dockerfile"
        if not os.path.isdir(path):
            raise UserError(f"{path!r} is no folder. Give the folder that holds {inside}.")
        if os.path.isabs(inside) or not os.path.isfile(os.path.join(path, inside)):
            raise UserError(f"There is no {inside!r} in {path!r}. Give dockerfile_path relative to the folder.")
        location = f"snapshot:{snapshot_folder(workspace.client, path).id}"
        return DockerBuildContext(DockerBuildContext.LocationType.StorageAccount, location, inside)


_SOURCES = ("base_image", "base_dockerfile", "build_context")


class DockerSection(Element):
    """The image. Where it is set, runs are in a container of it if one is to be had; else software comes from conda and pip.

    Of base_image, base_dockerfile and build_context one counts: setting one resets the others, with a warning
    when that loses something that was set on purpose.
    """

    _element_types = {"build_context": DockerBuildContext}

    def __init__(self, **kwargs: Any) -> None:
        self.base_image: Optional[str] = None if kwargs.get("_skip_defaults") else DEFAULT_CPU_IMAGE
        self.base_dockerfile: Optional[str] = None
        self.build_context: Optional[DockerBuildContext] = None
        self.base_image_registry = ContainerRegistry()
        self.platform = DockerImagePlatform()
        self.enabled = False
        self.shared_volumes = True
        self.arguments: list[str] = []
        self.shm_size: Optional[str] = None
        self.gpu_support: Optional[bool] = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name not in _SOURCES or value is None or not self.__dict__.get("_closed"):
            return
        for other in _SOURCES:
            before = self.__dict__.get(other)
            if other == name or before is None:
                continue
            if before != DEFAULT_CPU_IMAGE:
                warnings.warn(
                    f"docker.{name} was set, so docker.{other}={before!r} was reset: only one of "
                    f"{', '.join(_SOURCES)} counts.",
                    UserWarning,
                    stacklevel=3,
                )
            super().__setattr__(other, None)


class SparkPackage(Element):
    def __init__(
        self, group: Optional[str] = None, artifact: Optional[str] = None, version: Optional[str] = None
    ) -> None:
        self.group = group
        self.artifact = artifact
        self.version = version


class SparkSection(Element):
    """Kept as given; there is no Spark here."""

    _element_types = {"packages": SparkPackage}

    def __init__(self, **kwargs: Any) -> None:
        self.repositories: list[str] = []
        self.packages: list[SparkPackage] = []
        self.precache_packages = True


class DatabricksSection(Element):
    """Kept as given; there is no Databricks here."""

    def __init__(self, **kwargs: Any) -> None:
        self.maven_libraries: list[Any] = []
        self.pypi_libraries: list[Any] = []
        self.rcran_libraries: list[Any] = []
        self.jar_libraries: list[Any] = []
        self.egg_libraries: list[Any] = []


class RCranPackage(Element):
    def __init__(self) -> None:
        self.name: Optional[str] = None
        self.version: Optional[str] = None
        self.repository: Optional[str] = None


class RGitHubPackage(Element):
    def __init__(self) -> None:
        self.repository: Optional[str] = None
        self.auth_token: Optional[str] = None


class RSection(Element):
    """Kept as given; R scripts do not run here."""

    _element_types = {"cran_packages": RCranPackage, "github_packages": RGitHubPackage}

    def __init__(self) -> None:
        self.r_version: Optional[str] = None
        self.user_managed = False
        self.rscript_path: Optional[str] = None
        self.snapshot_date: Optional[str] = None
        self.cran_packages: Optional[list[RCranPackage]] = None
        self.github_packages: Optional[list[RGitHubPackage]] = None
        self.custom_url_packages: Optional[list[str]] = None
        self.bioconductor_packages: Optional[list[str]] = None
