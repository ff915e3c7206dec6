"""azureml.data.datapath."""

from rookery.azureml.finder import fill
from rookery.sdk.data_reference import DataPath, DataPathComputeBinding  # noqa: F401

fill(globals())
