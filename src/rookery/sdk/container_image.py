"""What is left of v1's images: a configuration says what an InferenceConfig says. There are no images here."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any, NoReturn, Optional

from rookery.errors import ModelError, UnsupportedError
from rookery.sdk.inference_config import InferenceConfig

__all__ = ["ContainerImage", "ContainerImageConfig", "Image"]


class Image:
    """v1's image of a model. None is ever made: looking for one finds nothing."""

    def __init__(self, workspace: Any, name: Optional[str] = None, id: Optional[str] = None, **kwargs: Any) -> None:
        raise ModelError(f"ImageNotFound: there is no image '{name or id}'. Rookery makes none; services run without.")

    @staticmethod
    def list(workspace: Any, *args: Any, **kwargs: Any) -> list[Any]:
        """Always empty."""
        return []

    @staticmethod
    def create(workspace: Any, name: str, models: Any, image_config: Any) -> NoReturn:
        raise UnsupportedError(
            "Image.create is not available in Rookery. Model.package(ws, models, inference_config) makes a folder with a "
            "Dockerfile; Model.deploy needs no image."
        )


@dataclass
class ContainerImageConfig:
    """What v1's `ContainerImage.image_configuration` says, kept."""

    execution_script: str
    runtime: str = "python"
    conda_file: Optional[str] = None
    docker_file: Optional[str] = None
    schema_file: Optional[str] = None
    dependencies: Optional[list[str]] = None
    enable_gpu: Optional[bool] = None
    tags: Optional[dict[str, str]] = None
    properties: Optional[dict[str, str]] = None
    description: Optional[str] = None
    base_image: Optional[str] = None
    base_image_registry: Any = None
    cuda_version: Optional[str] = None

    def to_inference_config(self) -> InferenceConfig:
        """The same in today's words. Files beside the script lie in the app root with it, as v1 laid them."""
        beside = [path for path in (self.conda_file, self.schema_file, *(self.dependencies or ())) if path]
        if not beside:
            return InferenceConfig(self.execution_script, self.runtime, description=self.description)
        folder = tempfile.mkdtemp(prefix="rookery-image-")
        try:
            for path in (self.execution_script, *beside):
                _copy(path, os.path.join(folder, os.path.basename(os.path.normpath(path))))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        made = InferenceConfig(
            os.path.basename(self.execution_script),
            self.runtime,
            os.path.basename(self.conda_file) if self.conda_file else None,
            source_directory=folder,
            description=self.description,
        )
        made.keeps_folder_name = False
        weakref.finalize(made, shutil.rmtree, folder, True)
        return made


class ContainerImage(Image):
    """v1's only kind of image."""

    image_configuration = staticmethod(ContainerImageConfig)


def _copy(source: str, target: str) -> None:
    if os.path.isdir(source):
        shutil.copytree(source, target)
    elif os.path.isfile(source):
        shutil.copyfile(source, target)
    else:
        raise ModelError(f"There is no file or folder '{source}' (looked from {os.getcwd()}).")
