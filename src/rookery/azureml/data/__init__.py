"""azureml.data."""

from rookery.azureml.finder import fill
from rookery.sdk.data_types import DataType  # noqa: F401
from rookery.sdk.file_dataset import FileDataset  # noqa: F401
from rookery.sdk.output_dataset import (  # noqa: F401
    HDFSOutputDatasetConfig,
    LinkFileOutputDatasetConfig,
    LinkTabularOutputDatasetConfig,
    OutputFileDatasetConfig,
)
from rookery.sdk.tabular_dataset import TabularDataset  # noqa: F401

fill(globals())
