"""azureml.pipeline.core.run. The same names."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_run import RUNNING_STATES, PipelineRun, StepRun  # noqa: F401
from rookery.sdk.step_output import StepRunOutput  # noqa: F401

fill(globals())
