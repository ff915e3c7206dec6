"""azureml.pipeline.steps.parallel_run_step. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.parallel_run import ParallelRunStep  # noqa: F401

fill(globals())
