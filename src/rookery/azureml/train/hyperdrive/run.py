"""azureml.train.hyperdrive.run."""

from rookery.azureml.finder import fill
from rookery.sdk.hyperdrive_config import TERMINAL_STATES, PrimaryMetricGoal  # noqa: F401
from rookery.sdk.hyperdrive_run import HyperDriveRun  # noqa: F401

fill(globals())
