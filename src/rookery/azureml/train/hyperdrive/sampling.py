"""azureml.train.hyperdrive.sampling. Differs: `properties` may hold a `seed`, and of random sampling a `rule`."""

from rookery.azureml.finder import fill
from rookery.sdk.sampling import (  # noqa: F401
    BayesianParameterSampling,
    GridParameterSampling,
    HyperParameterSampling,
    RandomParameterSampling,
)

fill(globals())
