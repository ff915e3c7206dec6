"""azureml.pipeline.steps.command_step. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_steps import CommandStep  # noqa: F401

fill(globals())
