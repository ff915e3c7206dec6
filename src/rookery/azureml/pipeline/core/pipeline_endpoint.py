"""azureml.pipeline.core.pipeline_endpoint. The same names."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_endpoint import PipelineEndpoint, PipelineIdVersion, PipelineVersion  # noqa: F401

fill(globals())
