"""InferenceConfig: the scoring script, the code beside it and the environment that it needs."""

from __future__ import annotations

import os
import warnings
from typing import Any, Optional

from rookery.errors import ModelError
from rookery.sdk.container_registry import ContainerRegistry
from rookery.sdk.environment import Environment
from rookery.sdk.environment_spec import environment_spec
from rookery.sdk.run_config_elements import DockerConfiguration
from rookery.sdk.snapshots import snapshot_folder
from rookery.spec.plain import to_plain

__all__ = ["InferenceConfig"]

_RUNTIMES = ("python", "spark-py", "python-slim")


class InferenceConfig:
    """How a model is scored. `entry_script` has `init()` and `run(data)`.

    With `source_directory` the whole folder goes along, and `entry_script` is a path in it; without, only that file goes.
    Raises ModelError (v1's WebserviceException) for what cannot be.
    """

    keeps_folder_name = True  # the source folder lies in the app root under its own name

    def __init__(
        self,
        entry_script: str,
        runtime: Optional[str] = None,
        conda_file: Optional[str] = None,
        extra_docker_file_steps: Optional[str] = None,
        source_directory: Optional[str] = None,
        enable_gpu: Optional[bool] = None,
        description: Optional[str] = None,
        base_image: Optional[str] = None,
        base_image_registry: Optional[ContainerRegistry] = None,
        cuda_version: Optional[str] = None,
        environment: Optional[Environment] = None,
    ) -> None:
        self.entry_script = entry_script
        self.runtime = runtime
        self.conda_file = conda_file
        self.extra_docker_file_steps = extra_docker_file_steps
        self.source_directory = source_directory
        self.enable_gpu = enable_gpu
        self.cuda_version = cuda_version
        self.description = description
        self.base_image = base_image
        self.base_image_registry = base_image_registry or ContainerRegistry()
        self.environment = environment
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """ModelError that names what is not allowed."""
        self._check_script()
        if self.environment is None:
            self._check_runtime()
            return
        if not isinstance(self.environment, Environment):
            raise ModelError(f"environment is {type(self.environment).__name__}. Give an Environment.")
        older = {
            "runtime": self.runtime,
            "conda_file": self.conda_file,
            "extra_docker_file_steps": self.extra_docker_file_steps,
            "enable_gpu": self.enable_gpu,
            "cuda_version": self.cuda_version,
            "base_image": self.base_image,
        }
        both = [name for name, value in older.items() if value]
        if both:
            raise ModelError(f"environment was given together with {', '.join(both)}. Put those into the environment.")
        _warn_without_defaults(self.environment)

    def validation_script_content(self) -> None:
        """ModelError unless the script can be read as Python and has `init` and `run`."""
        import ast

        path = self._script_path()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise ModelError(f"entry_script '{self.entry_script}' is not Python: {error}.") from error
        found = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        missing = [name for name in ("init", "run") if name not in found]
        # An import may bring them: only a script without any is surely wrong.
        if missing and not any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body):
            raise ModelError(f"entry_script '{self.entry_script}' has no {' and no '.join(missing)} function.")

    def build_create_payload(self, workspace: Any, name: str, model_ids: list[str]) -> dict[str, Any]:
        """What would be sent for a service of this name; the code is at the keeper then."""
        return {"name": name, "models": list(model_ids), "inference": self.to_body(workspace)}

    def build_profile_payload(
        self,
        profile_name: str,
        input_data: Any = None,
        workspace: Any = None,
        models: Any = None,
        dataset_id: Any = None,
        container_resource_requirements: Any = None,
        description: Optional[str] = None,
    ) -> dict[str, Any]:
        """What would be sent for a profile of this name."""
        return {
            "name": profile_name,
            "models": [getattr(model, "id", model) for model in models or ()],
            "inputs": input_data,
            "description": description,
            "inference": self.to_body(workspace),
        }

    def to_body(self, workspace: Any) -> dict[str, Any]:
        """Inference as the keeper takes it: the code is sent, the environment becomes a specification."""
        self.validate_configuration()
        self.validation_script_content()
        folder = self.source_directory
        name = os.path.basename(os.path.abspath(folder)) if folder and self.keeps_folder_name else ""
        entry = self.entry_script.replace(os.sep, "/") if folder else os.path.basename(self.entry_script)
        snapshot = snapshot_folder(workspace.client, folder or self.entry_script)
        if not snapshot.holds(entry):
            raise ModelError(
                f"entry_script '{entry}' is in '{folder}', but the ignore rules leave it out. Change .amlignore (or "
                ".gitignore where there is none)."
            )
        spec = environment_spec(self._environment(), DockerConfiguration())
        return {
            "entry_script": os.path.normpath(entry).replace(os.sep, "/"),
            "source_name": name,
            "snapshot_id": snapshot.id,
            "environment": to_plain(spec),
        }

    def _environment(self) -> Environment:
        """What was given; else one from the older options; else the interpreter that deploys."""
        if self.environment is not None:
            return self.environment
        if self.conda_file:
            path = os.path.join(self.source_directory or "", self.conda_file)
            path = path if os.path.isfile(path) else self.conda_file
            if not os.path.isfile(path):
                raise ModelError(f"conda_file '{self.conda_file}' does not exist. Give the path of a conda YAML file.")
            return Environment.from_conda_specification("inference", path)
        return Environment("inference")

    def _check_script(self) -> None:
        script = self.entry_script
        if not isinstance(script, str) or not script.endswith(".py"):
            raise ModelError(
                f"entry_script={script!r} is not allowed. Give the path of a .py file with init() and run()."
            )
        if self.source_directory is not None and not os.path.isdir(self.source_directory):
            raise ModelError(
                f"source_directory '{self.source_directory}' is no folder (looked from {os.getcwd()}). Give the folder that "
                "holds the entry script."
            )
        path = self._script_path()
        if self.source_directory:
            inside = os.path.relpath(os.path.abspath(path), os.path.abspath(self.source_directory))
            if inside == os.pardir or inside.startswith(os.pardir + os.sep):
                raise ModelError(f"entry_script '{script}' is outside source_directory '{self.source_directory}'.")
        if not os.path.isfile(path):
            where = f"source_directory '{self.source_directory}'" if self.source_directory else f"'{os.getcwd()}'"
            raise ModelError(f"entry_script '{script}' does not exist in {where}.")

    def _script_path(self) -> str:
        return os.path.join(self.source_directory or "", self.entry_script)

    def _check_runtime(self) -> None:
        if self.runtime is not None and str(self.runtime).lower() not in _RUNTIMES:
            raise ModelError(f"runtime={self.runtime!r} does not exist. Known: python. Better: give an environment.")
        for name in ("extra_docker_file_steps", "base_image"):
            if getattr(self, name):
                warnings.warn(
                    f"{name} of InferenceConfig is not used: services run in an environment of their own, without a container.",
                    UserWarning,
                    stacklevel=4,
                )


def _warn_without_defaults(environment: Environment) -> None:
    """v1 needs `azureml-defaults`; here nothing does, but a script that is to run there too should have it."""
    python = environment.python
    if (
        python.user_managed_dependencies
        or environment.name is None
        or environment.name.startswith(("AzureML", "Rookery"))
    ):
        return
    packages = python.conda_dependencies.pip_packages if python.conda_dependencies else []
    if not any(str(package).startswith(("azureml-defaults", "azureml-core")) for package in packages):
        warnings.warn(
            "azureml-defaults is not among the environment's pip packages. Rookery needs it not; v1 does.",
            UserWarning,
            stacklevel=4,
        )
