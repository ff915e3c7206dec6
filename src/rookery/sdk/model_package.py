"""ModelPackage: models, code and the scoring program in a folder with a Dockerfile."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from typing import Any, Optional

from rookery.errors import ModelError, UnsupportedError, error_from_code
from rookery.sdk.container_registry import ContainerRegistry
from rookery.sdk.deploy import inference_body, model_bodies

__all__ = ["ModelPackage", "package_model"]

_TIMEOUT_S = 600.0


class ModelPackage:
    """A package. It is complete when it is returned; `save` writes it as a folder that `docker build` takes."""

    def __init__(self, workspace: Any, operation_id: Optional[str] = None, environment: Any = None) -> None:
        self.workspace = workspace
        self.environment = environment
        self.state = "Succeeded"
        self.location = operation_id  # the image's name, once `pull` has built it
        self._zip = b""

    def save(self, output_directory: str) -> None:
        """Write Dockerfile, models, code and requirements into a folder, which is made where it is not there."""
        root = os.path.abspath(output_directory)
        with zipfile.ZipFile(io.BytesIO(self._zip)) as archive:
            for entry in archive.infolist():
                path = os.path.abspath(os.path.join(root, entry.filename))
                if path != root and not path.startswith(root + os.sep):
                    raise ModelError(f"The package holds {entry.filename!r}, which would lie outside of {root!r}.")
            archive.extractall(root)

    def pull(self) -> None:
        """Build the image here, with Docker, under the name `location`. Differs: there is no registry to pull from."""
        docker = shutil.which("docker") or shutil.which("podman")
        if docker is None:
            raise UnsupportedError(
                "ModelPackage.pull builds the image with docker or podman, and neither is installed. package.save(folder) writes "
                "the folder; build it where there is one: docker build -t NAME FOLDER."
            )
        with tempfile.TemporaryDirectory(prefix="rookery-package-") as folder:
            self.save(folder)
            done = subprocess.run(
                [docker, "build", "-t", str(self.location), folder], capture_output=True, text=True, check=False
            )
        if done.returncode != 0:
            raise ModelError(f"The image could not be built:\n{done.stderr[-3000:] or done.stdout[-3000:]}")

    def wait_for_creation(self, show_output: bool = False) -> None:
        """It is there already."""
        if show_output:
            print("Package creation Succeeded")

    def update_creation_state(self) -> None:
        """It is there already."""

    def get_logs(self, decode: bool = True, offset: int = 0) -> Any:
        """The names of what is in it."""
        with zipfile.ZipFile(io.BytesIO(self._zip)) as archive:
            text = "".join(f"{name}\n" for name in archive.namelist())[offset:]
        return text if decode else text.encode("utf-8")

    def get_container_registry(self) -> ContainerRegistry:
        """None in particular: images are built where they are used."""
        return ContainerRegistry()

    def serialize(self) -> dict[str, Any]:
        return {"state": self.state, "location": self.location, "bytes": len(self._zip)}

    def __repr__(self) -> str:
        return f"ModelPackage(location={self.location!r}, bytes={len(self._zip)})"


def package_model(
    workspace: Any,
    models: Any,
    inference_config: Any = None,
    generate_dockerfile: bool = False,
    image_name: Optional[str] = None,
    image_label: Optional[str] = None,
) -> ModelPackage:
    """Ask the keeper for a package. `generate_dockerfile` makes no difference: there is always one."""
    named = model_bodies(models)
    body = {
        "models": named,
        "inference": None if inference_config is None else inference_body(workspace, inference_config),
    }
    status, _, data = workspace.client.raw(
        "POST",
        "/model-packages",
        json.dumps(body).encode("utf-8"),
        {"Content-Type": "application/json"},
        timeout_s=_TIMEOUT_S,
    )
    if status >= 400:
        told = json.loads(data.decode("utf-8"))["error"]
        raise error_from_code(told["code"], told["message"], told.get("details"))
    name = image_name or "-".join(model["name"] for model in named).lower() or "package"
    made = ModelPackage(workspace, f"{name}:{image_label or 'latest'}", getattr(inference_config, "environment", None))
    made._zip = data
    return made
