"""azureml.train.hyperdrive.runconfig."""

from rookery.azureml.finder import fill
from rookery.sdk.hyperdrive_config import (  # noqa: F401
    MAX_DURATION_MINUTES,
    MAX_PARENT_RUNS,
    RECOMMENDED_MAX_CONCURRENT_RUNS_BAYESIAN,
    RECOMMENDED_MIN_RUNS_PER_PARAMETER_BAYESIAN,
    RESUME_FROM_TOTAL_RUNS,
    TERMINAL_STATES,
    HyperDriveConfig,
    HyperDriveRunConfig,
    PrimaryMetricGoal,
)

fill(globals())
