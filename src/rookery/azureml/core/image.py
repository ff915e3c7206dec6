"""azureml.core.image. Differs: there are no images; a configuration of one can be deployed."""

from rookery.azureml.finder import fill
from rookery.sdk.container_image import ContainerImage, Image  # noqa: F401

fill(globals())
