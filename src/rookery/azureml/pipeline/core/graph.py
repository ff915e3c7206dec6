"""azureml.pipeline.core.graph. Differs: nodes, edges and ports have no classes of their own; `Graph.graph` is plain data."""

from rookery.azureml.finder import fill
from rookery.sdk.graph_parts import InputPortDef, OutputPortDef, ParamDef  # noqa: F401
from rookery.sdk.module import Module  # noqa: F401
from rookery.sdk.pipeline_data import (  # noqa: F401
    InputPortBinding,
    OutputPortBinding,
    PipelineData,
    PipelineDataset,
    PipelineParameter,
    TrainingOutput,
)
from rookery.sdk.pipeline_graph import PipelineGraph as Graph  # noqa: F401
from rookery.sdk.published_pipeline import PublishedPipeline  # noqa: F401
from rookery.sdk.step_output import PortDataReference  # noqa: F401

fill(globals())
