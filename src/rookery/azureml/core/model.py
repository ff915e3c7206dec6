"""azureml.core.model. Differs: deploying is not there yet."""

import os

from rookery.azureml.finder import fill
from rookery.sdk.model import Model  # noqa: F401

MODELS_DIR = os.path.join(os.environ.get("AML_APP_ROOT", ""), "azureml-models")

fill(globals())
