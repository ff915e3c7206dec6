"""azureml.pipeline.steps.module_step. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.module_step import ModuleStep  # noqa: F401

fill(globals())
