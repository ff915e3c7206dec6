"""What the routes for pages answer, as types; like `answer_models`, only for the OpenAPI. docs/inside/studio-api.md has the words."""

from __future__ import annotations

from typing import Any, Optional, Union

from rookery.server.answer_models import Answer, Map, MaybeText, Model, Run, listing
from rookery.spec.cause import Cause
from rookery.spec.run import RunSpec

__all__ = ["listing"]

Number = Union[float, str]  # "NaN", "Infinity", "-Infinity"


class CauseInBrief(Answer):
    kind: MaybeText
    summary: MaybeText
    rank: Optional[int]
    node: Optional[int]
    fault: MaybeText


class BriefRun(Answer):
    id: str
    number: int
    experiment: str
    display_name: str
    kind: str
    status: str
    reason: str
    attempt: int
    compute: str
    node_count: int
    processes_per_node: int
    created_utc: str
    started_utc: MaybeText
    ended_utc: MaybeText
    duration_s: Optional[float]
    submitted_by: str
    parent_id: MaybeText
    num_children: int
    stale: bool
    cause: Optional[CauseInBrief]


class Sparkline(Answer):
    x: list[float]
    y: list[Optional[float]]


class TableRun(BriefRun):
    metrics: dict[str, Number]
    params: Map
    tags: Map
    series: Optional[dict[str, Sparkline]] = None


class RunTablePage(Answer):
    runs: list[TableRun]
    cursor: MaybeText
    total: Optional[int]


class NamedCount(Answer):
    name: str
    runs: int


class KnownNames(Answer):
    metrics: list[NamedCount]
    params: list[NamedCount]
    tags: list[NamedCount]
    experiments: list[NamedCount]
    computes: list[NamedCount]
    users: list[NamedCount]
    statuses: list[NamedCount]
    more: dict[str, bool]


class ValueCount(Answer):
    value: MaybeText
    runs: int


class Series(Answer):
    run: str
    name: str
    kind: str
    x: str
    total: int
    in_range: int
    sampled: bool
    xs: list[float]
    ys: list[Optional[float]]
    holes: int
    low: Optional[float]
    high: Optional[float]
    rank: Optional[int] = None
    ranks: Optional[int] = None


class ComparedRow(Answer):
    name: str
    values: list[Any]
    differs: bool


class Comparison(Answer):
    runs: list[BriefRun]
    params: list[ComparedRow]
    metrics: list[ComparedRow]
    tags: list[ComparedRow]
    attributes: list[ComparedRow]
    more: dict[str, bool]


class ActionError(Answer):
    code: str
    message: str


class ActionResult(Answer):
    run_id: str
    ok: bool
    status: MaybeText
    new_run_id: MaybeText
    error: Optional[ActionError]


class ComputeInBrief(Answer):
    name: str
    kind: str
    problem: str
    allocation_state: str
    current_nodes: int
    max_nodes: int
    busy_nodes: int
    idle_nodes: int
    queued_runs: int
    running_runs: int


class Disk(Answer):
    content_bytes: int
    log_bytes: int
    database_bytes: int
    free_bytes: int
    total_bytes: int


class HomeMore(Answer):
    running: bool
    waiting: bool


class Home(Answer):
    time: float
    counts: dict[str, int]
    running: list[BriefRun]
    waiting: list[BriefRun]
    failed: list[BriefRun]
    ended: list[BriefRun]
    more: HomeMore
    compute: list[ComputeInBrief]
    disk: Disk


class WaitingRun(BriefRun):
    place: int


class Queue(Answer):
    running: list[BriefRun]
    waiting: list[WaitingRun]
    more: bool


class PhaseBar(Answer):
    status: str
    reason: MaybeText
    start: float
    end: float
    duration_s: float


class Children(Answer):
    total: int
    by_status: dict[str, int]


class MetricInBrief(Answer):
    name: str
    kind: str
    total: int
    last: Any
    last_step: Optional[int]
    last_time: Optional[float]
    by_rank: bool  # several ranks logged it


class LogInBrief(Answer):
    name: str
    size: int


class FilesInBrief(Answer):
    files: int
    bytes: int


class SnapshotInBrief(FilesInBrief):
    id: str


class RunData(Answer):
    direction: str
    kind: str
    name: str
    digest: str
    context: MaybeText


class ModelVersion(Answer):
    name: str
    version: int


class RunSoftware(Answer):
    name: str
    version: MaybeText
    key: MaybeText
    python: MaybeText
    user_managed: bool


class Overview(Answer):
    run: Run
    time: float
    phases: list[PhaseBar]
    children: Children
    parent: Optional[BriefRun]
    metrics: list[MetricInBrief]
    logs: list[LogInBrief]
    artifacts: FilesInBrief
    snapshot: Optional[SnapshotInBrief]
    git: dict[str, Any]
    data: list[RunData]
    models: list[ModelVersion]
    environment: RunSoftware
    deleted_utc: MaybeText
    archived: bool


class TimelineNode(Answer):
    node: int
    id: Any
    machine: Any
    result: MaybeText
    ranks: list[Any]


class TimelineAttempt(Answer):
    attempt: int
    start: Optional[float]
    end: Optional[float]
    result: MaybeText
    cause: Optional[Cause]
    nodes: list[TimelineNode]


class GpuLines(Answer):
    index: int
    util_percent: list[Optional[float]]
    memory_bytes: list[Optional[float]]


class NodeLines(Answer):
    node: int
    times: list[Optional[float]]
    cpu_percent: list[Optional[float]]
    memory_bytes: list[Optional[float]]
    gpus: list[GpuLines]


class Timeline(Answer):
    time: float
    phases: list[PhaseBar]
    attempts: list[TimelineAttempt]
    samples: list[NodeLines]


class Items(Answer):
    name: str
    kind: str
    total: int
    start: int
    columns: Optional[dict[str, list[Any]]] = None
    items: Optional[list[Any]] = None


class LogMark(Answer):
    line: int
    offset: int
    kind: str
    text: str


class LogIndex(Answer):
    name: str
    size: int
    lines: int
    marks: list[LogMark]
    marks_from: int
    more: bool


class LogLines(Answer):
    start: int
    lines: list[str]
    total: int
    size: int
    offset: int
    end: int
    cut: list[int]


class LogMatch(Answer):
    line: int
    offset: int
    column: int
    length: int
    text: str
    at: int


class LogMatches(Answer):
    matches: list[LogMatch]
    next: Optional[int]
    size: int


class TreeFolder(Answer):
    name: str
    path: str
    files: int
    bytes: int


class TreeFile(Answer):
    name: str
    path: str
    size: int
    sha256: MaybeText
    preview: str
    modified_utc: MaybeText = None
    mode: Optional[int] = None
    link: MaybeText = None


class Tree(Answer):
    path: str
    folders: list[TreeFolder]
    files: list[TreeFile]
    more: bool


class PreviewColumn(Answer):
    name: str
    type: str
    why: MaybeText = None


class OnnxPort(Answer):
    name: str
    type: str
    shape: list[Union[int, str]]


class OnnxNode(Answer):
    name: str
    op: str
    inputs: list[str]
    outputs: list[str]


class OnnxOpset(Answer):
    domain: str
    version: Optional[int]


class OnnxOperator(Answer):
    op: str
    count: int


class OnnxSummary(Answer):
    ir_version: Optional[int]
    producer: str
    producer_version: str
    domain: str
    description: str
    opsets: list[OnnxOpset]
    graph: str
    inputs: list[OnnxPort]
    outputs: list[OnnxPort]
    num_nodes: int
    operators: list[OnnxOperator]
    nodes: list[OnnxNode]
    num_initializers: int
    num_parameters: int
    weights_bytes: int
    metadata: dict[str, str]
    cut: bool


class Preview(Answer):
    name: str
    size: int
    kind: str
    text: MaybeText = None
    cut: Optional[bool] = None
    valid: Optional[bool] = None
    columns: Optional[list[PreviewColumn]] = None
    rows: Optional[list[list[Any]]] = None
    total_rows: Optional[int] = None
    content_type: MaybeText = None
    width: Optional[int] = None
    height: Optional[int] = None
    model: Optional[OnnxSummary] = None
    why: MaybeText = None


class DiffSide(Answer):
    run: str
    snapshot: str


class DiffFile(Answer):
    path: str
    change: str
    old_size: Optional[int]
    new_size: Optional[int]
    diff: MaybeText
    why: MaybeText
    cut: bool


class SourceDiff(Answer):
    old: DiffSide
    new: DiffSide
    files: list[DiffFile]
    same: int
    more: bool


class Difference(Answer):
    what: str
    then: Any
    now: Any
    matters: bool


class Reproducible(Answer):
    possible: bool
    why_not: list[str]
    same: list[str]
    differences: list[Difference]
    spec: Optional[RunSpec]


class LatestVersion(Answer):
    version: int
    stage: MaybeText
    description: str
    run_id: MaybeText
    created_utc: str


class ModelName(Answer):
    name: str
    description: str
    tags: Map
    aliases: dict[str, int]
    created_utc: str
    modified_utc: str
    versions: int
    latest: Optional[LatestVersion]


class Aliases(Answer):
    aliases: dict[str, int]


class Lineage(Answer):
    model: Model
    run: Optional[BriefRun]
    experiment: MaybeText
    snapshot_id: MaybeText
    git: dict[str, Any]
    environment: MaybeText
    data: list[RunData]
    siblings: list[ModelVersion]
