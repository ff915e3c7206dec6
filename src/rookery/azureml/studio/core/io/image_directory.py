"""azureml.studio.core.io.image_directory. Differs: only what a service's caller needs."""

from rookery.azureml.finder import fill
from rookery.sdk.picture_request import IMG_EXTS, image_from_file, image_to_bytes  # noqa: F401

fill(globals())
