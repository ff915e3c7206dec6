"""azureml.core.model. Differs: a package is a folder with a Dockerfile; nothing is pushed to a registry."""

import os

from rookery.azureml.finder import fill
from rookery.sdk.inference_config import InferenceConfig  # noqa: F401
from rookery.sdk.model import Model  # noqa: F401
from rookery.sdk.model_package import ModelPackage  # noqa: F401

MODELS_DIR = os.path.join(os.environ.get("AML_APP_ROOT", ""), "azureml-models")

fill(globals())
