"""azureml.data.dataset_factory."""

from rookery.azureml.finder import fill
from rookery.sdk.dataset_factory import DataType, FileDatasetFactory, TabularDatasetFactory  # noqa: F401

fill(globals())
