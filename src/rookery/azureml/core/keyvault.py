"""azureml.core.keyvault. Differs: values are sealed in the workspace's own record."""

from rookery.azureml.finder import fill
from rookery.sdk.keyvault import Keyvault  # noqa: F401

fill(globals())
