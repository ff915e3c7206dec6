"""azureml.pipeline.core.pipeline. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline import Pipeline  # noqa: F401

fill(globals())
