"""azureml.train.sklearn. Differs: scikit-learn comes in today's version."""

from rookery.azureml.finder import fill
from rookery.sdk.estimators import SKLearn  # noqa: F401

fill(globals())
