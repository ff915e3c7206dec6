"""azureml.core.compute.aks: a placeholder, the same one as in azureml.core.compute."""

from rookery.azureml.finder import fill
from rookery.sdk.compute import AksCompute  # noqa: F401

fill(globals())
