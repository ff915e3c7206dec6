"""azureml.pipeline.steps.estimator_step. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_steps import EstimatorStep  # noqa: F401

fill(globals())
