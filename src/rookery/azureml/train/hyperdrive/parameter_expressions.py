"""azureml.train.hyperdrive.parameter_expressions."""

from rookery.azureml.finder import fill
from rookery.sdk.parameter_expressions import (  # noqa: F401
    choice,
    lognormal,
    loguniform,
    normal,
    qlognormal,
    qloguniform,
    qnormal,
    quniform,
    randint,
    uniform,
)

fill(globals())
