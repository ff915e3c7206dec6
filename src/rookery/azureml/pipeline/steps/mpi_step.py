"""azureml.pipeline.steps.mpi_step. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_steps import MpiStep  # noqa: F401

fill(globals())
