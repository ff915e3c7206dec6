"""azureml.data.abstract_datastore."""

from rookery.azureml.finder import fill
from rookery.sdk.datastore_kinds import AbstractDatastore  # noqa: F401

fill(globals())
