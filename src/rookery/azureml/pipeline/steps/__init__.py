"""azureml.pipeline.steps. Differs: processes of a ParallelRunStep share one node; HyperDriveStep has no outputs."""

from rookery.azureml.finder import fill
from rookery.sdk.hyperdrive_step import HyperDriveStep, HyperDriveStepRun  # noqa: F401
from rookery.sdk.module_step import ModuleStep  # noqa: F401
from rookery.sdk.parallel_run import ParallelRunConfig, ParallelRunStep  # noqa: F401
from rookery.sdk.pipeline_steps import CommandStep, EstimatorStep, MpiStep, PythonScriptStep  # noqa: F401

fill(globals())
