"""azureml.studio.core.io.transformation_directory. Differs: only what a service's caller needs; nothing is written to a folder."""

from rookery.azureml.finder import fill
from rookery.sdk.picture_request import ImageTransformationDirectory  # noqa: F401

fill(globals())
