"""azureml.pipeline.core.pipeline_draft. The same name."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_draft import PipelineDraft  # noqa: F401

fill(globals())
