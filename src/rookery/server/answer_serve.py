"""What routes of endpoints answer, for the OpenAPI."""

from __future__ import annotations

from typing import Any, Optional

from rookery.server.answer_models import Answer

__all__ = ["Endpoint", "EndpointKeys", "EndpointLatency", "EndpointToken", "ModelProfile"]


class EndpointError(Answer):
    code: str
    summary: str
    last_lines: list[str]


class EndpointOperation(Answer):
    kind: str
    state: str
    error: Optional[EndpointError]
    version: str
    words: str
    started_utc: str
    ended_utc: Optional[str]


class EndpointModel(Answer):
    name: str
    version: int


class EndpointEnvironment(Answer):
    name: str
    python: str
    deviations: list[str]


class EndpointReplica(Answer):
    pid: int
    state: str
    revision: int
    since_utc: str
    restarts: int


class EndpointScaling(Answer):
    min_replicas: int
    max_replicas: int
    wanted: int
    utilization: float


class EndpointVersion(Answer):
    name: str
    revision: int
    traffic: float
    is_default: bool
    state: str
    error: Optional[EndpointError]
    models: list[EndpointModel]
    inference: Optional[dict[str, Any]]
    no_code: Optional[str]
    config: dict[str, Any]
    environment: Optional[EndpointEnvironment]
    replicas: list[EndpointReplica]
    scaling: Optional[EndpointScaling]
    created_utc: str
    updated_utc: str
    description: str
    tags: dict[str, str]
    properties: dict[str, Any]


class Endpoint(Answer):
    name: str
    kind: str
    state: str
    error: Optional[EndpointError]
    operation: EndpointOperation
    description: str
    tags: dict[str, str]
    properties: dict[str, Any]
    created_utc: str
    updated_utc: str
    created_by: str
    auth_enabled: bool
    token_auth_enabled: bool
    port: int
    scoring_uri: str
    swagger_uri: str
    keeper_path: str
    versions: list[EndpointVersion]
    requests: int
    errors: int


class EndpointKeys(Answer):
    primary: str
    secondary: str


class EndpointToken(Answer):
    access_token: str
    token_type: str
    refresh_after: int
    expiry_on: int


class LatencySeries(Answer):
    version: str
    times: list[int]
    requests: list[int]
    errors: list[int]
    p50_ms: list[Optional[float]]
    p95_ms: list[Optional[float]]
    p99_ms: list[Optional[float]]
    run_ms: list[float]
    queue_ms: list[float]
    batch: list[float]


class LatencyTotal(Answer):
    requests: int
    errors: int
    p50_ms: Optional[float]
    p95_ms: Optional[float]
    p99_ms: Optional[float]


class EndpointLatency(Answer):
    to: int
    step_s: int
    series: list[LatencySeries]
    total: LatencyTotal


class ModelProfile(Answer):
    name: str
    state: str
    error: Optional[EndpointError]
    models: list[EndpointModel]
    description: str
    cpu: Optional[float]
    memory_in_gb: Optional[float]
    total_queries: int
    success_queries: int
    success_rate: float
    average_latency_ms: Optional[float]
    latency_p50_ms: Optional[float]
    latency_p90_ms: Optional[float]
    latency_p95_ms: Optional[float]
    latency_p99_ms: Optional[float]
    latency_p999_ms: Optional[float]
    queries_per_second: Optional[float]
    max_utilized_cpu: Optional[float]
    max_utilized_memory_gb: Optional[float]
    created_utc: str
    ended_utc: Optional[str]
