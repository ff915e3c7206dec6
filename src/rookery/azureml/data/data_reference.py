"""azureml.data.data_reference."""

from rookery.azureml.finder import fill
from rookery.sdk.data_reference import DataReference  # noqa: F401

fill(globals())
