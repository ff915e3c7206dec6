"""azureml.data.dataset_consumption_config."""

from rookery.azureml.finder import fill
from rookery.sdk.dataset_consumption import DatasetConsumptionConfig  # noqa: F401

fill(globals())
