"""The SDK: Workspace, Experiment, Run, Model, configuration objects. Names are loaded when first used."""

from __future__ import annotations

import importlib
from typing import Any

_ROOM = {
    "workspace": ("Workspace",),
    "experiment": ("Experiment", "ViewType"),
    "run": ("Run", "get_run"),
    "script_run": ("ScriptRun",),
    "run_details": ("RunDetails",),
    "model": ("Model",),
    "script_run_config": ("ScriptRunConfig",),
    "run_configuration": ("RunConfiguration",),
    "run_config_elements": ("DockerConfiguration", "Retries"),
    "distributed": (
        "MpiConfiguration",
        "ParallelTaskConfiguration",
        "PyTorchConfiguration",
        "TensorflowConfiguration",
    ),
    "environment": ("Environment",),
    "secret": ("Secret",),
    "conda_dependencies": ("CondaDependencies",),
    "compute": ("ComputeTarget",),
    "aml_compute": ("AmlCompute",),
    "dataset": ("Dataset",),
    "datastore": ("Datastore",),
    "data_reference": ("DataPath", "DataReference"),
    "dataset_consumption": ("DatasetConsumptionConfig",),
    "output_dataset": ("OutputFileDatasetConfig",),
    "keyvault": ("Keyvault",),
    "pipeline": ("Pipeline",),
    "pipeline_data": ("PipelineData", "PipelineParameter"),
    "pipeline_graph": ("PipelineGraph",),
    "pipeline_run": ("PipelineRun", "StepRun"),
    "pipeline_steps": ("CommandStep", "MpiStep", "PythonScriptStep", "StepSequence"),
    "pipeline_draft": ("PipelineDraft",),
    "pipeline_endpoint": ("PipelineEndpoint",),
    "published_pipeline": ("PublishedPipeline",),
    "parallel_run": ("ParallelRunConfig", "ParallelRunStep"),
    "hyperdrive_step": ("HyperDriveStep",),
    "module": ("Module",),
    "module_step": ("ModuleStep",),
    "schedule": ("Schedule", "ScheduleRecurrence"),
    "webservice": ("Webservice",),
    "webservice_kinds": ("AciWebservice", "AksWebservice", "LocalWebservice"),
    "aks_endpoint": ("AksEndpoint",),
    "inference_config": ("InferenceConfig",),
    "compute_instance": ("ComputeInstance",),
    "aks_compute": ("AksCompute",),
    "remote_compute": ("RayCompute", "RemoteCompute", "SlurmCompute"),
}
_MODULE_OF = {name: module for module, names in _ROOM.items() for name in names}

__all__ = [
    "AciWebservice",
    "AksCompute",
    "AksEndpoint",
    "AksWebservice",
    "AmlCompute",
    "CommandStep",
    "ComputeInstance",
    "ComputeTarget",
    "CondaDependencies",
    "DataPath",
    "DataReference",
    "Dataset",
    "DatasetConsumptionConfig",
    "Datastore",
    "DockerConfiguration",
    "Environment",
    "Experiment",
    "HyperDriveStep",
    "InferenceConfig",
    "Keyvault",
    "LocalWebservice",
    "Model",
    "Module",
    "ModuleStep",
    "MpiConfiguration",
    "MpiStep",
    "OutputFileDatasetConfig",
    "ParallelRunConfig",
    "ParallelRunStep",
    "ParallelTaskConfiguration",
    "Pipeline",
    "PipelineData",
    "PipelineDraft",
    "PipelineEndpoint",
    "PipelineGraph",
    "PipelineParameter",
    "PipelineRun",
    "PublishedPipeline",
    "PyTorchConfiguration",
    "PythonScriptStep",
    "RayCompute",
    "RemoteCompute",
    "Retries",
    "Run",
    "RunConfiguration",
    "RunDetails",
    "Schedule",
    "ScheduleRecurrence",
    "ScriptRun",
    "ScriptRunConfig",
    "Secret",
    "SlurmCompute",
    "StepRun",
    "StepSequence",
    "TensorflowConfiguration",
    "ViewType",
    "Webservice",
    "Workspace",
    "get_run",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'rookery.sdk' has no attribute {name!r}. It has: {', '.join(__all__)}.")
    value = getattr(importlib.import_module(f"rookery.sdk.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
