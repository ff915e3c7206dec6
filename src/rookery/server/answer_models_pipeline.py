"""What the routes about pipelines answer, for the OpenAPI."""

from __future__ import annotations

from typing import Any, Optional

from rookery.server.answer_models import Answer

__all__ = [
    "Code",
    "Draft",
    "Graph",
    "GraphRead",
    "ModuleCard",
    "ModuleVersions",
    "PipelineEndpoint",
    "PipelineRun",
    "PipelineSample",
    "Problems",
    "PublishedPipeline",
    "Schedule",
    "SubmittedV1",
    "Yaml",
]


class ModulePort(Answer):
    name: str
    label: str
    types: list[str]
    optional: bool
    help: str


class ModuleParameter(Answer):
    name: str
    label: str
    kind: str
    help: str
    required: bool
    default: Any
    low: Optional[float]
    high: Optional[float]
    above: Optional[float]
    choices: list[str]
    when: Optional[list[Any]]


class ModuleCard(Answer):
    """A module of the palette. `source`: built-in, or custom."""

    name: str
    title: str
    category: str
    help: str
    distributed: bool
    inputs: list[ModulePort]
    outputs: list[ModulePort]
    parameters: list[ModuleParameter]
    source: str
    version: str


class ModuleVersion(Answer):
    """A version of a module. `status`: Active, Deprecated or Disabled."""

    version: str
    status: str
    description: str
    card: ModuleCard
    created_utc: Optional[str]
    created_by: str


class ModuleVersions(Answer):
    """A module with its versions, oldest first. `current` is what a pipeline gets that names none: `default_version`, else the
    highest number, else the newest."""

    name: str
    status: str
    description: str
    default_version: Optional[str]
    current: Optional[str]
    versions: list[ModuleVersion]


class Problem(Answer):
    """One thing that keeps a graph from being run."""

    node: Optional[str]
    field: Optional[str]
    code: str
    message: str


class Problems(Answer):
    problems: list[Problem]


class Graph(Answer):
    graph: dict[str, Any]


class GraphRead(Answer):
    graph: dict[str, Any]
    problems: list[Problem]


class Yaml(Answer):
    yaml: str


class Code(Answer):
    python: str


class Draft(Answer):
    """`graph` is null in lists."""

    id: str
    name: str
    graph: Optional[dict[str, Any]]
    num_nodes: int
    revision: int
    facts: dict[str, Any]
    created: str
    changed: str
    last_run_id: Optional[str]
    who: str


class PipelineSample(Answer):
    name: str
    title: str
    description: str
    graph: dict[str, Any]


class StepOutput(Answer):
    """What a step has made at one port: a data set without a name, or with one."""

    definition_id: str
    manifest_id: str
    fingerprint: str
    files: int
    bytes: int
    data_name: str
    data_version: Optional[int]
    datastore: Optional[str]
    path: Optional[str]
    types: list[str]


class PipelineStep(Answer):
    """A reused step has a run of its own, which is Completed at once; logs and metrics are those of `reused_from`."""

    name: str
    run_id: Optional[str]
    status: str
    phase: str
    reason: str
    reused_from: Optional[str]
    reuse: str
    started: Optional[str]
    ended: Optional[str]
    cause: Optional[dict[str, Any]]
    tries: int
    key: str
    outputs: dict[str, StepOutput]


class PipelineRun(Answer):
    run_id: str
    experiment: str
    display_name: str
    status: str
    reason: str
    error: Optional[dict[str, Any]]
    graph: dict[str, Any]
    parameters: dict[str, Any]
    regenerate: bool
    continue_on_failure: bool
    draft_id: Optional[str]
    created: str
    started: Optional[str]
    ended: Optional[str]
    steps: dict[str, PipelineStep]


class PublishedPipeline(Answer):
    id: str
    name: str
    description: str
    version: str
    status: str
    graph: dict[str, Any]
    continue_on_failure: bool
    created_utc: str
    created_by: str
    endpoint: str


class PipelineEndpointVersion(Answer):
    version: str
    pipeline_id: str


class PipelineEndpoint(Answer):
    id: str
    name: str
    description: str
    status: str
    default_version: str
    versions: list[PipelineEndpointVersion]
    created_utc: str
    created_by: str
    endpoint: str


class Schedule(Answer):
    id: str
    name: str
    status: str
    facts: dict[str, Any]
    state: dict[str, Any]
    next_utc: Optional[str]
    created_utc: str
    created_by: str


class SubmittedV1(Answer):
    """As v1's clients read it."""

    Id: str
    ExperimentName: str
    PipelineId: str
    Status: dict[str, Any]
    Description: str
