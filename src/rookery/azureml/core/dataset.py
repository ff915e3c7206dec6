"""azureml.core.dataset."""

from rookery.azureml.finder import fill
from rookery.sdk.dataset import AbstractDataset as Dataset  # noqa: F401

fill(globals())
