"""azureml.core.compute.remote: a placeholder, the same one as in azureml.core.compute."""

from rookery.azureml.finder import fill
from rookery.sdk.compute import RemoteCompute  # noqa: F401

fill(globals())
