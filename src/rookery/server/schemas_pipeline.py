"""Bodies of what is about pipelines. A graph is taken as it is: what is wrong in it is told as problems, not as a refusal."""

from __future__ import annotations

from typing import Any, Literal, Optional

from pydantic import BaseModel, ConfigDict

from rookery.server.schemas import Given

__all__ = [
    "DraftNew",
    "DraftSaved",
    "GraphGiven",
    "InferenceAsked",
    "InferenceDeployed",
    "ModuleChange",
    "ModuleName",
    "ModuleNew",
    "PipelineEndpointChange",
    "PipelineEndpointNew",
    "PipelineRunNew",
    "PipelineSubmission",
    "PublishedChange",
    "PublishedNew",
    "ScheduleChange",
    "ScheduleNew",
    "YamlGiven",
]


class GraphGiven(Given):
    graph: dict[str, Any]
    parameters: Optional[dict[str, Any]] = None


class YamlGiven(Given):
    yaml: str


class InferenceAsked(Given):
    run_id: str
    kind: Literal["real-time", "batch"] = "real-time"


class InferenceDeployed(Given):
    """One of `graph` and `run_id`; the rest is an endpoint's."""

    name: str
    graph: Optional[dict[str, Any]] = None
    run_id: Optional[str] = None
    kind: str = "local"
    config: dict[str, Any] = {}
    auth_enabled: Optional[bool] = None
    token_auth_enabled: Optional[bool] = None
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    overwrite: bool = False


class PipelineRunNew(Given):
    graph: dict[str, Any]
    experiment: str
    run_id: Optional[str] = None
    parent_id: Optional[str] = None
    display_name: Optional[str] = None
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    properties: Optional[dict[str, Any]] = None
    parameters: Optional[dict[str, Any]] = None
    regenerate: bool = False
    continue_on_failure: bool = False
    draft_id: Optional[str] = None
    pipeline_id: Optional[str] = None  # of a published one that it comes from


class DraftNew(Given):
    graph: dict[str, Any]
    name: Optional[str] = None
    facts: Optional[dict[str, Any]] = None


class DraftSaved(Given):
    graph: Optional[dict[str, Any]] = None
    revision: Optional[int] = None
    name: Optional[str] = None
    facts: Optional[dict[str, Any]] = None


class PublishedNew(Given):
    """Of a graph, or of a run's."""

    name: str
    graph: Optional[dict[str, Any]] = None
    run_id: Optional[str] = None
    description: str = ""
    version: str = ""
    continue_on_failure: Optional[bool] = None


class PublishedChange(Given):
    status: Literal["Active", "Disabled"]


class PipelineEndpointNew(Given):
    name: str
    pipeline_id: str
    description: str = ""


class PipelineEndpointChange(Given):
    add: Optional[str] = None
    make_default: bool = False
    default_version: Optional[str] = None
    status: Optional[Literal["Active", "Disabled", "Archived"]] = None
    name: Optional[str] = None


class ScheduleNew(Given):
    name: str
    experiment: str
    description: Optional[str] = None
    pipeline_id: Optional[str] = None
    endpoint_id: Optional[str] = None
    recurrence: Optional[dict[str, Any]] = None
    datastore: Optional[str] = None
    path_on_datastore: Optional[str] = None
    polling_interval: Optional[float] = None  # minutes
    data_path_parameter_name: Optional[str] = None
    parameters: Optional[dict[str, Any]] = None
    continue_on_failure: Optional[bool] = None


class ScheduleChange(Given):
    name: Optional[str] = None
    status: Optional[Literal["Active", "Disabled"]] = None
    description: Optional[str] = None
    recurrence: Optional[dict[str, Any]] = None
    datastore: Optional[str] = None
    path_on_datastore: Optional[str] = None
    polling_interval: Optional[float] = None
    data_path_parameter_name: Optional[str] = None
    parameters: Optional[dict[str, Any]] = None
    continue_on_failure: Optional[bool] = None


class ModuleNew(Given):
    """`function`: the script declares it with a decorator; it is `file.py:function`."""

    card: dict[str, Any]
    snapshot_id: str
    function: Optional[str] = None
    version: Optional[str] = None  # its label; else the next number
    make_default: bool = True


class ModuleName(Given):
    description: str = ""


class ModuleChange(Given):
    """With `version` status and description are that version's, else the module's."""

    version: Optional[str] = None
    default_version: Optional[str] = None
    status: Optional[Literal["Active", "Deprecated", "Disabled"]] = None
    description: Optional[str] = None


class PipelineSubmission(BaseModel):
    """v1's body; what it does not know is left aside, as the original did."""

    model_config = ConfigDict(extra="ignore")

    ExperimentName: Optional[str] = None
    DisplayName: Optional[str] = None
    Description: Optional[str] = None
    RunSource: Optional[str] = None
    ParentRunId: Optional[str] = None
    ParameterAssignments: Optional[dict[str, Any]] = None
    DataPathAssignments: Optional[dict[str, Any]] = None
    DataSetDefinitionValueAssignments: Optional[dict[str, Any]] = None
    Tags: Optional[dict[str, Any]] = None
    Properties: Optional[dict[str, Any]] = None
    ContinueRunOnStepFailure: Optional[bool] = None
