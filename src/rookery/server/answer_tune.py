"""The answers about tunings, for the OpenAPI."""

from __future__ import annotations

from typing import Any, Optional

from rookery.server.answer_models import Answer

__all__ = ["TuneTrial", "Tuning"]


class TuneTrial(Answer):
    number: int
    run_id: str
    parameters: dict[str, Any]
    status: str
    reason: str
    stopped: str  # why its policy stopped it; empty: it did not
    resumed_from: str
    intervals: int
    best: Optional[float]
    best_at: Optional[int]
    last: Optional[float]
    rank: Optional[int]
    duration_s: Optional[float]


class Tuning(Answer):
    run_id: str
    status: str
    reason: str
    metric: str
    goal: str
    sampler: str
    policy: str
    policy_options: dict[str, Any]
    space: dict[str, Any]
    max_total_runs: int
    max_concurrent_runs: int
    max_duration_minutes: float
    resume_from: list[str]
    trials: list[TuneTrial]
    best: Optional[str]
    importances: dict[str, float]
