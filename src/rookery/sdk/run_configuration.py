"""RunConfiguration: where and how a script runs, as an object and as a `.runconfig` file."""

from __future__ import annotations

import copy
import os
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.distributed import (
    MpiConfiguration,
    ParallelTaskConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from rookery.sdk.element import Element
from rookery.sdk.environment import Environment, EnvironmentDefinition
from rookery.sdk.run_config_data import Data, DatacacheConfiguration, DataReferenceConfiguration, OutputData
from rookery.sdk.run_config_elements import (
    AmlComputeConfiguration,
    ApplicationEndpointConfiguration,
    DockerConfiguration,
    HdiConfiguration,
    HistoryConfiguration,
    KubernetesComputeConfiguration,
    Retries,
    SparkConfiguration,
)
from rookery.sdk.yaml_text import dump_yaml, load_yaml, read_text
from rookery.spec.compute import LOCAL

__all__ = ["LOCAL_RUNCONFIG_NAME", "RunConfiguration", "compute_name"]

LOCAL_RUNCONFIG_NAME = "local"
_FOLDERS = (".azureml", "aml_config")
_SUFFIX = ".runconfig"


class RunConfiguration(Element):
    """Everything about a run but its source folder. `target` is a compute target, its name or 'local'."""

    _element_types = {"datacaches": DatacacheConfiguration, "environment": Environment, "retries": Retries}
    _element_maps = {
        "data": Data,
        "data_references": DataReferenceConfiguration,
        "output_data": OutputData,
        "services": ApplicationEndpointConfiguration,
    }

    def __init__(
        self,
        script: Optional[str] = None,
        arguments: Optional[list[Any]] = None,
        framework: Optional[str] = None,
        communicator: Optional[str] = None,
        conda_dependencies: Optional[CondaDependencies] = None,
        _history_enabled: Optional[bool] = None,
        _path: Optional[str] = None,
        _name: Optional[str] = None,
        command: Any = None,
    ) -> None:
        self._path, self._name = _path, _name
        self.script = script
        self.arguments: Any = arguments or []
        self.command: Any = command or ""
        self.target: Any = LOCAL
        self.framework = framework or "Python"
        self.communicator = communicator or "None"
        self.max_run_duration_seconds: Optional[int] = None
        self.node_count = 1
        self.priority: Optional[int] = None
        self.environment: Environment = EnvironmentDefinition("default-environment")
        self.environment_variables: dict[str, str] = {}
        self.auto_prepare_environment = True
        self.history = HistoryConfiguration()
        self.spark = SparkConfiguration()
        self.docker = DockerConfiguration()
        self.hdi = HdiConfiguration()
        self.tensorflow = TensorflowConfiguration()
        self.mpi = MpiConfiguration()
        self.pytorch = PyTorchConfiguration()
        self.paralleltask = ParallelTaskConfiguration()
        self.data_references: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.datacaches: list[Any] = []
        self.output_data: dict[str, Any] = {}
        self.amlcompute = AmlComputeConfiguration()
        self.kubernetescompute = KubernetesComputeConfiguration()
        self.services: dict[str, Any] = {}
        self.source_directory_data_store: Optional[str] = None
        self.auto_cluster_compute_specification: Any = None
        self.credential_passthrough = False
        self.retries = Retries()
        if conda_dependencies is not None:
            self.environment.python.conda_dependencies = conda_dependencies
        if _history_enabled is not None:
            self.history.output_collection = _history_enabled

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, compute_name(value) if name == "target" else value)

    def save(
        self, path: Optional[str] = None, name: Optional[str] = None, separate_environment_yaml: bool = False
    ) -> None:
        """Write `<path>/.azureml/<name>.runconfig`, or the file `path` when it is one. Defaults: where it
        was loaded from."""
        target = _file_to_write(path or self._path or os.getcwd(), name or self._name or LOCAL_RUNCONFIG_NAME)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        data = self.to_dict()
        if separate_environment_yaml:
            environment_file = os.path.join(os.path.dirname(target), "environment.yml")
            _write(environment_file, dump_yaml(data["environment"]))
            data["environment"] = os.path.basename(environment_file)
        _write(target, dump_yaml(data))

    @staticmethod
    def load(path: str, name: Optional[str] = None) -> RunConfiguration:
        """Read a file, or the configuration `name` of a project folder.

        Raises:
            UserError: it does not exist, or is no run configuration.
        """
        source = _file_to_read(path, name)
        data = _read(source)
        environment = data.pop("environment", None)
        if isinstance(environment, str):
            environment = _read(os.path.join(os.path.dirname(source), environment))
        is_file = os.path.isfile(path)
        loaded = RunConfiguration(_path=path, _name=None if is_file else _stem(source))
        loaded._update(data)
        if environment is not None:
            loaded.environment = Environment.from_dict(environment)
        return loaded

    @staticmethod
    def delete(path: str, name: str) -> None:
        """Remove the configuration `name` of a project folder."""
        os.remove(_file_to_read(path, name))

    def copy(self) -> RunConfiguration:
        """A deep copy: later changes to one do not reach the other."""
        return copy.deepcopy(self)


def compute_name(target: Any) -> str:
    """The name of a compute target that is given as object or name; 'local' for None."""
    if target is None:
        return LOCAL
    name = target if isinstance(target, str) else getattr(target, "name", None)
    if not isinstance(name, str) or not name:
        raise UserError(f"{target!r} is no compute target. Give a ComputeTarget, its name, or 'local'.")
    return name


def _file_to_write(path: str, name: str) -> str:
    if os.path.isfile(path) or path.endswith((_SUFFIX, ".yml", ".yaml")):
        return os.path.abspath(path)
    return os.path.join(os.path.abspath(path), _FOLDERS[0], _stem(name) + _SUFFIX)


def _file_to_read(path: str, name: Optional[str]) -> str:
    if os.path.isfile(path):
        return path
    stem = _stem(name or LOCAL_RUNCONFIG_NAME)
    tried = [os.path.join(path, folder, stem + _SUFFIX) for folder in (*_FOLDERS, "")]
    for candidate in tried:
        if os.path.isfile(candidate):
            return candidate
    raise UserError(
        f"There is no run configuration '{stem}' in {path}. Looked for: {', '.join(tried)}. "
        "RunConfiguration.save writes one."
    )


def _stem(name: str) -> str:
    base = os.path.basename(name)
    return base[: -len(_SUFFIX)] if base.endswith(_SUFFIX) else base


def _read(path: str) -> dict[str, Any]:
    data = load_yaml(read_text(path), path)
    if not isinstance(data, dict):
        raise UserError(f"{path} is no run configuration: it must hold a mapping such as 'script: train.py'.")
    return data


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
