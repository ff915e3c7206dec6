"""azureml.pipeline.core. Differs: a graph is `PipelineGraph`, plain data that YAML and the designer share."""

from rookery.azureml.finder import fill
from rookery.sdk.graph_parts import InputPortDef, OutputPortDef  # noqa: F401
from rookery.sdk.module import Module, ModuleVersion  # noqa: F401
from rookery.sdk.pipeline import Pipeline  # noqa: F401
from rookery.sdk.pipeline_data import (  # noqa: F401
    InputPortBinding,
    OutputPortBinding,
    PipelineData,
    PipelineDataset,
    PipelineParameter,
    TrainingOutput,
)
from rookery.sdk.pipeline_draft import PipelineDraft  # noqa: F401
from rookery.sdk.pipeline_endpoint import PipelineEndpoint  # noqa: F401
from rookery.sdk.pipeline_graph import PipelineGraph as Graph  # noqa: F401
from rookery.sdk.pipeline_run import PipelineRun, StepRun  # noqa: F401
from rookery.sdk.pipeline_steps import PipelineStep, StepSequence  # noqa: F401
from rookery.sdk.published_pipeline import PublishedPipeline  # noqa: F401
from rookery.sdk.schedule import Schedule, ScheduleRecurrence, TimeZone  # noqa: F401
from rookery.sdk.step_output import PortDataReference, StepRunOutput  # noqa: F401

fill(globals())
