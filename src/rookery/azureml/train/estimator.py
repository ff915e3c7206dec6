"""azureml.train.estimator."""

from rookery.azureml.finder import fill
from rookery.sdk.estimators import Estimator, MMLBaseEstimator, MMLBaseEstimatorRunConfig  # noqa: F401

fill(globals())
