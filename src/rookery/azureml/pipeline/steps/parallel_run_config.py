"""azureml.pipeline.steps.parallel_run_config. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.parallel_run import ParallelRunConfig  # noqa: F401

fill(globals())
