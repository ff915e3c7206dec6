"""azureml.core: each name is loaded from its own module when it is first used, because training scripts want
only `Run`."""

from __future__ import annotations

import importlib
from typing import Any

from rookery.azureml.finder import VERSION
from rookery.azureml.surface import SURFACE
from rookery.worker.placeholder import placeholder

__all__ = list(SURFACE["azureml.core"])

__version__ = VERSION
diagnostic_log = placeholder("diagnostic_log", "azureml.core")
_WHERE = {
    "ComputeTarget": "compute",
    "ContainerRegistry": "container_registry",
    "Dataset": "dataset",
    "Datastore": "datastore",
    "Environment": "environment",
    "Experiment": "experiment",
    "Image": "image",
    "Keyvault": "keyvault",
    "LinkedService": "linked_service",
    "Model": "model",
    "PrivateEndPoint": "private_endpoint",
    "PrivateEndPointConfig": "private_endpoint",
    "Run": "run",
    "RunConfiguration": "runconfig",
    "ScriptRun": "script_run",
    "ScriptRunConfig": "script_run_config",
    "Webservice": "webservice",
    "Workspace": "workspace",
    "get_run": "run",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    elif f"azureml.core.{name}" in SURFACE:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module 'azureml.core' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
