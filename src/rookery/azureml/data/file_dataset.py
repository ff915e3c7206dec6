"""azureml.data.file_dataset."""

from rookery.azureml.finder import fill
from rookery.sdk.file_dataset import FileDataset  # noqa: F401

fill(globals())
