"""azureml.core.experiment."""

from rookery.azureml.finder import fill
from rookery.sdk.experiment import Experiment, ViewType  # noqa: F401

fill(globals())
