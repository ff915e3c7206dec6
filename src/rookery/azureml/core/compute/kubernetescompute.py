"""azureml.core.compute.kubernetescompute: a placeholder, the same one as in azureml.core.compute."""

from rookery.azureml.finder import fill
from rookery.sdk.compute import KubernetesCompute  # noqa: F401

fill(globals())
