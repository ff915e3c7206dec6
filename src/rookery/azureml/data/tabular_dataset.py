"""azureml.data.tabular_dataset."""

from rookery.azureml.finder import fill
from rookery.sdk.tabular_dataset import TabularDataset  # noqa: F401

fill(globals())
