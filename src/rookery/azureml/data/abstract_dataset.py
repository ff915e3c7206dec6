"""azureml.data.abstract_dataset."""

from rookery.azureml.finder import fill
from rookery.sdk.dataset import AbstractDataset  # noqa: F401

fill(globals())
