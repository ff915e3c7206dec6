"""What routes answer, as types. Only for the OpenAPI, and imported only when somebody asks for it: answers are never
validated at run time, so the keeper's start and its hot routes do not pay for them."""

from __future__ import annotations

from typing import Any, Optional

from pydantic import BaseModel, ConfigDict, create_model

from rookery.spec.cause import Cause
from rookery.spec.run import RunSpec

__all__ = ["listing"]

Text = str
MaybeText = Optional[str]
Map = dict[str, Optional[str]]


class Answer(BaseModel):
    model_config = ConfigDict(extra="allow")  # a newer server may say more


def listing(field: str, item: Any, **more: Any) -> type[BaseModel]:
    """{field: [item…], …}, named after the item."""
    fields: dict[str, Any] = {field: (list[item], ...), **{name: (kind, ...) for name, kind in more.items()}}
    name = f"{item.__name__}{'Page' if more else 'Listing'}"
    return create_model(name, __base__=Answer, **fields)


class Empty(Answer): ...


class ErrorBody(Answer):
    code: str
    message: str
    details: dict[str, Any]


class ErrorAnswer(Answer):
    error: ErrorBody


class WorkspaceName(Answer):
    id: str
    name: str


class Hello(Answer):
    service: str
    version: str
    protocol: int
    pid: int
    hostname: str
    time: float
    workspace: WorkspaceName


class AgentsAddress(Answer):
    urls: list[str]


class Keeper(Answer):
    pid: int
    uptime_s: float
    memory_bytes: int
    live_runs: int
    queued_runs: int
    running_runs: int
    open_streams: int
    idle_s: float
    socket: MaybeText
    port: Optional[int]
    url: MaybeText
    agents: AgentsAddress
    version: str


class Workspace(Answer):
    id: str
    name: str
    subscription_id: str
    resource_group: str
    location: str
    created_utc: str
    tags: Map
    friendly_name: str
    description: str
    disk_bytes: int


class RunToken(Answer):
    token: str
    expires_utc: str


class TrackingToken(RunToken):
    port: Optional[int]
    tls: bool


class Experiment(Answer):
    id: str
    name: str
    created_utc: str
    archived_utc: MaybeText
    tags: Map
    run_count: int


class ExperimentCounted(Experiment):
    """`run_count` is of all that were ever made; these two are of what is neither archived nor deleted."""

    shown_count: int
    child_count: int


class Phase(Answer):
    status: str
    since_utc: str
    reason: MaybeText


class RunInList(Answer):
    id: str
    number: int
    experiment: str
    kind: str
    parent_id: MaybeText
    root_id: str
    display_name: str
    description: str
    status: str
    reason: MaybeText
    attempt: int
    compute: str
    target: MaybeText
    created_utc: str
    started_utc: MaybeText
    ended_utc: MaybeText
    submitted_by: str
    tags: Map
    properties: Map
    params: Map
    heard_utc: MaybeText
    stale: bool
    spec: RunSpec
    error: Optional[Cause]
    warnings: list[str]
    snapshot_id: MaybeText
    phases: list[Phase]


class RankEnd(Answer):
    rank: int
    exit_code: Optional[int]
    signal: Optional[int]


class AttemptNode(Answer):
    id: Any
    machine: Any
    result: MaybeText
    ranks: list[RankEnd]


class Attempt(Answer):
    attempt: int
    started_utc: MaybeText
    ended_utc: MaybeText
    result: MaybeText
    cause: Optional[Cause]
    nodes: list[AttemptNode]


class Run(RunInList):
    attempts: list[Attempt]


class Metric(Answer):
    name: str
    kind: str
    values: Optional[list[Any]] = None
    steps: Optional[list[Any]] = None
    times: Optional[list[float]] = None
    rows: Optional[int] = None
    columns: Optional[dict[str, list[Any]]] = None
    items: Optional[list[Any]] = None


class Gpu(Answer):
    index: int
    util_percent: Optional[float]
    memory_bytes: Optional[int]


class Sample(Answer):
    time: float
    node: int
    cpu_percent: Optional[float]
    memory_bytes: Optional[int]
    gpus: list[Gpu]


class Log(Answer):
    name: str
    size: int


class Artifact(Answer):
    name: str
    size: int
    sha256: str
    modified_utc: str


class Content(Answer):
    sha256: str
    size: int


class Missing(Answer):
    missing: list[str]


class Files(Answer):
    files: int


class UploadState(Answer):
    stored: bool
    offset: int


class SnapshotMade(Answer):
    id: str
    files: int
    bytes: int


class SnapshotEntry(Answer):
    path: str
    sha256: MaybeText
    size: int
    mode: int
    link: MaybeText


class Snapshot(Answer):
    id: str
    entries: list[SnapshotEntry]


class Compute(Answer):
    name: str
    kind: str
    spec: dict[str, Any]
    provisioning_state: str
    allocation_state: str
    created_utc: str
    modified_utc: str
    current_nodes: int
    target_nodes: int
    max_nodes: int
    problem: str
    node_states: dict[str, int]
    warnings: list[str]
    queued_runs: int
    running_runs: int


class Preempted(Answer):
    node: str
    run_id: MaybeText
    grace_s: float
    away_s: float


class Check(Answer):
    check: str
    ok: bool
    words: str
    advice: str


class Node(Answer):
    id: str
    state: str
    address: MaybeText = None
    run_id: MaybeText = None
    detail: MaybeText = None


class ModelFile(Answer):
    path: str
    sha256: str
    size: int


class Model(Answer):
    name: str
    version: int
    id: str
    created_utc: str
    created_by: str
    description: str
    tags: Map
    properties: Map
    framework: MaybeText
    framework_version: MaybeText
    run_id: MaybeText
    experiment: MaybeText
    snapshot_id: MaybeText
    files: list[ModelFile]
    is_folder: bool
    stage: MaybeText
    aliases: list[str]


class Environment(Answer):
    name: str
    version: str
    definition: dict[str, Any]
    labels: list[str]
    created_utc: MaybeText
    created_by: MaybeText
    curated: bool
    maps_to: Any


class Prepared(Answer):
    python: str
    bin_dir: MaybeText
    deviations: list[str]
    key: str


class Build(Answer):
    id: str
    key: str
    status: str
    error: str
    built: Optional[Prepared]
    created_utc: str
    ended_utc: MaybeText
    created_by: str
    log_size: int


class IsPrepared(Answer):
    built: Optional[Prepared]


class Specification(Answer):
    conda: dict[str, Any]
    notes: list[str]


class Wheel(Answer):
    name: str
    sha256: str
    url: str


class Built(Answer):
    key: str
    name: str
    python_version: str
    num_packages: int
    built_utc: str
    last_used_utc: str
    build_s: float
    own_bytes: Optional[int]
    shared_bytes: Optional[int]
    in_use_by: list[str]
    deviations: list[str]
    path: str


class BuiltInFull(Built):
    python_requested: str
    platform: str
    asked: list[Any]
    notes: list[str]
    lock: str
    conda: list[Any]
    log: str


class Kept(Answer):
    key: str
    name: str
    reason: str


class Pruned(Answer):
    removed: list[Built]
    kept: list[Kept]
    freed_bytes: int
    cache_bytes: int
    dry_run: bool


class Me(Answer):
    kind: str
    name: str
    role: MaybeText
    run_id: MaybeText


class User(Answer):
    name: str
    role: str
    has_password: bool
    created_utc: str
    created_by: str
    tokens: int


class UserToken(Answer):
    id: str
    user: str
    name: str
    created_utc: str
    expires_utc: str
    last_used_utc: MaybeText


class UserTokenMade(UserToken):
    token: str


class Session(Answer):
    name: str
    role: str
    expires_utc: str


class EntryCode(Answer):
    code: str
    path: str
    expires_s: float


class SessionToken(Session):
    id: str
    token: str


class AuditEntry(Answer):
    seq: int
    time_utc: str
    who: str
    action: str
    path: str
    status: int
    address: str
    request_id: str


class DeliveryCounts(Answer):
    waiting: int
    delivered: int
    failed: int


class Webhook(Answer):
    id: str
    url: str
    events: list[str]
    created_utc: str
    created_by: str
    deliveries: DeliveryCounts


class WebhookMade(Webhook):
    secret: str


class Delivery(Answer):
    id: int
    webhook_id: str
    event: str
    payload: dict[str, Any]
    state: str
    tries: int
    next_utc: str
    answer: Optional[int]
    error: str
    created_utc: str
    ended_utc: MaybeText


class AgentHello(Answer):
    journals: dict[str, int]
    logs: dict[str, int]
    cancel: bool


class Rendezvous(Answer):
    address: MaybeText
    port: Optional[int]
    cancel: bool


class Beat(Answer):
    cancel: bool


class Acknowledged(Answer):
    ack: int


class Command(Answer):
    n: int
    command: str
    grace_s: float


class Checkpoint(Answer):
    path: str
    size: int
    mode: int


class Size(Answer):
    size: int


class Anything(Answer):
    """An object whose fields are described in docs/inside/protocol.md."""
