"""v1's deprecated estimators: a script, packages and a launch in one object, turned into a ScriptRunConfig."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, ClassVar, Optional

from rookery.errors import RunConfigError, UnsupportedError, UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.distributed import (
    MpiConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
    apply_distributed_job_config,
)
from rookery.sdk.environment import Environment
from rookery.sdk.run_configuration import RunConfiguration
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.sdk.yaml_text import read_text

__all__ = [
    "Chainer",
    "Estimator",
    "Gloo",
    "MMLBaseEstimator",
    "MMLBaseEstimatorRunConfig",
    "Mpi",
    "Nccl",
    "ParameterServer",
    "PyTorch",
    "SKLearn",
    "TensorFlow",
]


class Mpi:
    """One `mpirun` over all nodes."""

    def __init__(self, process_count_per_node: int = 1) -> None:
        self.process_count_per_node = process_count_per_node


class ParameterServer:
    """TensorFlow's workers and parameter servers."""

    def __init__(self, worker_count: int = 1, parameter_server_count: int = 1) -> None:
        self.worker_count = worker_count
        self.parameter_server_count = parameter_server_count


class Gloo:
    """torch.distributed over gloo."""


class Nccl:
    """torch.distributed over NCCL."""


_BACKENDS = {"mpi": Mpi, "ps": ParameterServer, "gloo": Gloo, "nccl": Nccl}


class MMLBaseEstimatorRunConfig(RunConfiguration):
    """The run configuration of an estimator. Differs: compute made for one run (`vm_size`) is refused."""

    def __init__(
        self,
        compute_target: Any,
        vm_size: Optional[str] = None,
        vm_priority: Optional[str] = None,
        entry_script: Optional[str] = None,
        script_params: Optional[dict[str, Any]] = None,
        node_count: Optional[int] = None,
        process_count_per_node: Optional[int] = None,
        distributed_backend: Any = None,
        use_gpu: Optional[bool] = None,
        use_docker: Optional[bool] = None,
        custom_docker_base_image: Optional[str] = None,
        custom_docker_image: Optional[str] = None,
        image_registry_details: Any = None,
        user_managed: bool = False,
        conda_packages: Optional[list[str]] = None,
        pip_packages: Optional[list[str]] = None,
        environment_definition: Optional[Environment] = None,
        inputs: Optional[list[Any]] = None,
        source_directory_data_store: Any = None,
        shm_size: Optional[str] = None,
    ) -> None:
        super().__init__(script=entry_script, arguments=_arguments(script_params))
        if compute_target is None and (vm_size or vm_priority):
            raise UnsupportedError(
                f"vm_size={vm_size!r} without compute_target (compute made for one run) is not available in Rookery. "
                "Create a cluster with ComputeTarget.create and give it as compute_target, or give 'local'."
            )
        _add_inputs(self, inputs)
        self.target = compute_target
        self.source_directory_data_store = getattr(source_directory_data_store, "name", source_directory_data_store)
        image = custom_docker_image or custom_docker_base_image
        if environment_definition is not None:
            self.environment = _given_environment(environment_definition, conda_packages, pip_packages, image)
        else:
            self.environment = _environment(conda_packages, pip_packages, user_managed)
            if image:
                self.environment.docker.base_image = image
                if image_registry_details is not None:
                    self.environment.docker.base_image_registry = image_registry_details
        # v1's default is True, with an image of its own; here a container is for an image that was asked for.
        self.docker.use_docker = bool(image and use_docker is not False)
        self.docker.shm_size = shm_size or self.docker.shm_size
        _launch(self, node_count or 1, process_count_per_node or 1, distributed_backend)


class MMLBaseEstimator:
    """What all estimators are; `Experiment.submit` takes it."""

    _resume_from: Any = None

    def __init__(
        self, source_directory: str, *, compute_target: Any, estimator_config: Optional[RunConfiguration] = None
    ) -> None:
        self._source_directory = os.fspath(source_directory) if source_directory else "."
        self._run_config: RunConfiguration = (
            MMLBaseEstimatorRunConfig(compute_target) if estimator_config is None else estimator_config
        )

    @property
    def source_directory(self) -> str:
        return self._source_directory

    @property
    def run_config(self) -> RunConfiguration:
        return self._run_config

    @property
    def conda_dependencies(self) -> Optional[CondaDependencies]:
        return self._run_config.environment.python.conda_dependencies

    def to_script_run_config(self) -> ScriptRunConfig:
        """The same run in today's words. Ours, not v1's."""
        return ScriptRunConfig(self._source_directory, run_config=self._run_config, resume_from=self._resume_from)


_PLACE = ("compute_target", "vm_size", "vm_priority", "entry_script", "script_params")
_LAUNCH = ("node_count", "process_count_per_node", "distributed_backend", "distributed_training", "use_gpu")
_IMAGE = ("use_docker", "custom_docker_image", "image_registry_details", "user_managed", "shm_size")
_PACKAGES = (
    "conda_packages",
    "pip_packages",
    "conda_dependencies_file_path",
    "pip_requirements_file_path",
    "conda_dependencies_file",
    "pip_requirements_file",
    "environment_variables",
    "environment_definition",
)
_REST = ("inputs", "resume_from", "max_run_duration_seconds")
_PRIVATE = ("_disable_validation", "_show_lint_warnings", "_show_package_warnings")
_GENERAL = (
    *_PLACE, *_LAUNCH, "custom_docker_base_image", "source_directory_data_store", *_IMAGE, *_PACKAGES, *_REST, *_PRIVATE
)  # fmt: skip
_FRAMEWORK = ("framework_version", "_enable_optimized_mode")


class Estimator(MMLBaseEstimator):
    """Any script. `use_gpu` changes nothing: a run has the devices of its node."""

    _options: ClassVar[tuple[str, ...]] = _GENERAL
    _packages: ClassVar[tuple[str, ...]] = ()  # what v1's image of that framework held, in today's versions

    def __init__(self, source_directory: str, **options: Any) -> None:
        name = type(self).__name__
        unknown = sorted(set(options) - set(self._options))
        if unknown:
            known = ", ".join(option for option in self._options if not option.startswith("_"))
            raise TypeError(f"{name} has no {unknown[0]!r}. It has: {known}.")
        warnings.warn(
            f"'{name}' is deprecated. Please use 'ScriptRunConfig' from 'azureml.core.script_run_config' with your own "
            "defined environment or a curated environment.",
            DeprecationWarning,
            stacklevel=2,
        )
        self._resume_from = options.get("resume_from")
        if self._resume_from is not None and type(self._resume_from).__name__ != "DataPath":
            raise UserError(
                f"resume_from is {type(self._resume_from).__name__}. Give a DataPath: DataPath(datastore, 'path')."
            )
        version = options.get("framework_version")
        if version and options.get("environment_definition") is None:
            warnings.warn(
                f"framework_version={version!r} of {name} is not pinned: the run gets today's version. For exactly that "
                f"one, add it to pip_packages.",
                UserWarning,
                stacklevel=2,
            )
        super().__init__(
            source_directory,
            compute_target=options.get("compute_target"),
            estimator_config=_configuration(self._packages, {**options, "source_directory": source_directory}),
        )


class _FrameworkEstimator(Estimator):
    FRAMEWORK_NAME: ClassVar[str] = ""
    DEFAULT_VERSION: ClassVar[str] = ""
    _options: ClassVar[tuple[str, ...]] = (*_GENERAL, *_FRAMEWORK)


class PyTorch(_FrameworkEstimator):
    FRAMEWORK_NAME = "PyTorch"
    DEFAULT_VERSION = "1.4"
    _packages = ("torch", "torchvision", "pillow", "numpy", "future", "tensorboard", "horovod")


class TensorFlow(_FrameworkEstimator):
    """Differs: `horovod` is there for PyTorch only."""

    FRAMEWORK_NAME = "TensorFlow"
    DEFAULT_VERSION = "1.13"
    _options = (*_GENERAL, *_FRAMEWORK, "worker_count", "parameter_server_count")
    _packages = ("tensorflow", "pillow", "numpy", "tensorboard")


class Chainer(_FrameworkEstimator):
    """Differs: Chainer has ended, so its last version is what today's means."""

    FRAMEWORK_NAME = "Chainer"
    DEFAULT_VERSION = "5.1.0"
    _packages = ("chainer==7.8.1", "numpy<1.24")


class SKLearn(_FrameworkEstimator):
    """One process on one node."""

    FRAMEWORK_NAME = "SKLearn"
    DEFAULT_VERSION = "0.20.3"
    _options = (*_PLACE, *_IMAGE, *_PACKAGES, *_REST, *_PRIVATE, *_FRAMEWORK)
    _packages = ("scikit-learn", "scipy", "pandas", "numpy", "joblib")


def _configuration(framework: tuple[str, ...], options: dict[str, Any]) -> MMLBaseEstimatorRunConfig:
    get = options.get
    same_name: dict[str, Any] = {
        name: get(name)
        for name in (
            *_PLACE, "node_count", "process_count_per_node", "use_gpu", "use_docker", "custom_docker_base_image",
            "custom_docker_image", "image_registry_details", "user_managed", "environment_definition", "inputs",
            "source_directory_data_store", "shm_size", "conda_packages", "pip_packages",
        )
    }  # fmt: skip
    config = MMLBaseEstimatorRunConfig(distributed_backend=_backend(options), **same_name)
    config.max_run_duration_seconds = get("max_run_duration_seconds")
    if get("environment_definition") is None and not get("user_managed"):
        config.environment.python.conda_dependencies = _dependencies(framework, options)
    config.environment_variables.update(get("environment_variables") or {})
    return config


def _dependencies(framework: tuple[str, ...], options: dict[str, Any]) -> CondaDependencies:
    """The file's packages, then the framework's, then those that were named: the later ones count."""
    folder = options.get("source_directory") or "."
    conda_file = options.get("conda_dependencies_file") or options.get("conda_dependencies_file_path")
    requirements = options.get("pip_requirements_file") or options.get("pip_requirements_file_path")
    named = [options.get("conda_packages"), options.get("pip_packages"), conda_file, requirements, framework]
    if not any(named):
        return CondaDependencies()  # untouched: the interpreter that submits
    if conda_file:
        made = CondaDependencies(_find(folder, conda_file))
    else:
        made = CondaDependencies()
        made.set_python_version("{}.{}".format(*sys.version_info))
    for package in (*framework, *_requirements(folder, requirements), *(options.get("pip_packages") or ())):
        made.add_pip_package(package)
    for package in options.get("conda_packages") or ():
        made.add_conda_package(package)
    return made


def _environment(
    conda_packages: Optional[list[str]], pip_packages: Optional[list[str]], user_managed: bool
) -> Environment:
    environment = Environment("estimator-environment")
    environment.python.user_managed_dependencies = bool(user_managed)
    if not user_managed:
        environment.python.conda_dependencies = _dependencies(
            (), {"conda_packages": conda_packages, "pip_packages": pip_packages}
        )
    return environment


def _given_environment(environment: Any, *ignored: Any) -> Environment:
    if not isinstance(environment, Environment):
        raise UserError(f"environment_definition is {type(environment).__name__}. Give an Environment.")
    if any(ignored):
        warnings.warn(
            "environment_definition was given, so the estimator's own packages and image are ignored. Put them into the "
            "environment.",
            UserWarning,
            stacklevel=5,
        )
    return environment


def _backend(options: dict[str, Any]) -> Any:
    """distributed_training, or the older distributed_backend with the counts beside it."""
    training, name = options.get("distributed_training"), options.get("distributed_backend")
    if training is not None:
        return training
    if not isinstance(name, str):
        return name
    if name.lower() not in _BACKENDS:
        raise RunConfigError(f"distributed_backend={name!r} does not exist. Known: {', '.join(_BACKENDS)}.")
    if name.lower() == "ps":
        return ParameterServer(options.get("worker_count") or 1, options.get("parameter_server_count") or 1)
    if name.lower() == "mpi":
        return Mpi(options.get("process_count_per_node") or 1)
    return _BACKENDS[name.lower()]()


def _launch(run_config: RunConfiguration, nodes: int, per_node: int, backend: Any) -> None:
    backend = _backend({"distributed_backend": backend, "process_count_per_node": per_node})
    if backend is None:
        if nodes != 1 or per_node != 1:
            raise RunConfigError(
                f"node_count={nodes} with process_count_per_node={per_node} needs distributed_training. Give Mpi(), "
                "Gloo(), Nccl() or ParameterServer() from azureml.train.dnn."
            )
        return
    if isinstance(backend, Mpi):
        each = backend.process_count_per_node
        apply_distributed_job_config(run_config, MpiConfiguration(per_node if each == 1 else each, nodes))
    elif isinstance(backend, ParameterServer):
        workers = TensorflowConfiguration(backend.worker_count, backend.parameter_server_count)
        apply_distributed_job_config(run_config, workers)
    elif isinstance(backend, (Gloo, Nccl)):
        name = type(backend).__name__
        apply_distributed_job_config(run_config, PyTorchConfiguration(name, nodes * per_node, nodes))
    else:
        raise RunConfigError(
            f"distributed_training is {type(backend).__name__}. Allowed: Mpi, Gloo, Nccl, ParameterServer."
        )


def _arguments(script_params: Any) -> list[Any]:
    """{'--lr': 0.1, '--verbose': ''} as a list; an empty value is a flag."""
    if script_params is None:
        return []
    if not isinstance(script_params, dict):
        raise UserError(f"script_params is {type(script_params).__name__}. Give a dictionary, such as {{'--lr': 0.1}}.")
    made: list[Any] = []
    for name, value in script_params.items():
        made.append(name)
        if value is not None and not (isinstance(value, str) and value == ""):
            made.append(value)
    return made


def _add_inputs(run_config: RunConfiguration, inputs: Optional[list[Any]]) -> None:
    """Data beside the arguments: the script finds it in `run.input_datasets` and in variables."""
    for given in inputs or ():
        if type(given).__name__ == "DataReference":
            run_config.data_references[given.data_reference_name] = given.to_config()
        elif type(given).__name__ == "DatasetConsumptionConfig":
            run_config.data[given.name] = given
        else:
            raise UserError(
                f"inputs holds a {type(given).__name__}. Give dataset.as_named_input('name') (as_mount() or as_download() where "
                "the script wants a path), or a DataReference."
            )


def _requirements(folder: str, path: Optional[str]) -> list[str]:
    if not path:
        return []
    lines = [line.split("#")[0].strip() for line in read_text(_find(folder, path)).splitlines()]
    return [line for line in lines if line]


def _find(folder: str, path: str) -> str:
    """A file of the source folder, as v1 says; or a path as it is."""
    inside = os.path.join(folder, path)
    found = inside if os.path.isfile(inside) else path
    if not os.path.isfile(found):
        raise UserError(
            f"There is no file '{path}' in source_directory '{folder}', nor at that path from {os.getcwd()}."
        )
    return found
