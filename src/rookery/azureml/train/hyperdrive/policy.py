"""azureml.train.hyperdrive.policy."""

from rookery.azureml.finder import fill
from rookery.sdk.policy import (  # noqa: F401
    BanditPolicy,
    EarlyTerminationPolicy,
    MedianStoppingPolicy,
    NoTerminationPolicy,
    TruncationSelectionPolicy,
)

fill(globals())
