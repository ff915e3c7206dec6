"""azureml.core.container_registry."""

from rookery.azureml.finder import fill
from rookery.sdk.container_registry import ContainerRegistry, RegistryIdentity  # noqa: F401

fill(globals())
