"""azureml.pipeline.core.pipeline_output_dataset. Differs: one class for files; tables are read by the step that gets them."""

from rookery.azureml.finder import fill
from rookery.sdk.pipeline_data import (  # noqa: F401
    PipelineOutput as PipelineOutputAbstractDataset,
)

fill(globals())
