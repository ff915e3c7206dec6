"""azureml.pipeline.steps.hyper_drive_step. The same names."""

from rookery.azureml.finder import fill
from rookery.sdk.hyperdrive_step import HyperDriveStep, HyperDriveStepRun  # noqa: F401

fill(globals())
