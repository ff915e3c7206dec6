"""azureml.pipeline.core.builder. The same names."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_data import PipelineData  # noqa: F401
from rookery.sdk.pipeline_steps import PipelineStep, StepSequence  # noqa: F401

fill(globals())
