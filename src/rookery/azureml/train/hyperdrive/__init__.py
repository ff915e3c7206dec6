"""azureml.train.hyperdrive. Differs: it works on `local` too, and a seed can be given (`properties={"seed": 7}`)."""

from rookery.azureml.finder import fill
from rookery.sdk.hyperdrive_config import HyperDriveConfig, HyperDriveRunConfig, PrimaryMetricGoal  # noqa: F401
from rookery.sdk.hyperdrive_run import HyperDriveRun  # noqa: F401
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
from rookery.sdk.policy import (  # noqa: F401
    BanditPolicy,
    EarlyTerminationPolicy,
    MedianStoppingPolicy,
    NoTerminationPolicy,
    TruncationSelectionPolicy,
)
from rookery.sdk.sampling import (  # noqa: F401
    BayesianParameterSampling,
    GridParameterSampling,
    HyperParameterSampling,
    RandomParameterSampling,
)

fill(globals())
