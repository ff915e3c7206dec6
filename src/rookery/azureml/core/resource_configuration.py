"""azureml.core.resource_configuration."""

from rookery.azureml.finder import fill
from rookery.sdk.resource_configuration import ResourceConfiguration  # noqa: F401

fill(globals())
