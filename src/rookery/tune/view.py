"""A tuning as it is shown: its trials, the best one, which were stopped and why, and what mattered."""

from __future__ import annotations

from typing import Any

from rookery.errors import NotFoundError
from rookery.spec.plain import from_plain
from rookery.spec.run import RunKind
from rookery.spec.tune import TunePlan
from rookery.tune.importance import importances

__all__ = ["show_tuning"]


def show_tuning(record: Any, run_id: str) -> dict[str, Any]:
    """
    Raises:
        NotFoundError: the run is no tuning.
    """
    run = record.runs.get(run_id)
    if run["kind"] != RunKind.TUNE:
        raise NotFoundError(f"Run '{run_id}' is of kind {run['kind']}: it tunes nothing.")
    plan = from_plain(TunePlan, run["spec"]["plan"])
    sign = 1 if plan.goal == "maximize" else -1
    rows = record.trials.of(run_id)
    children = record.table.brief([row["child_id"] for row in rows])
    trials = [_trial(row, children.get(row["child_id"])) for row in rows]
    ranked = sorted((t for t in trials if t["best"] is not None), key=lambda t: -sign * t["best"])
    for place, trial in enumerate(ranked, 1):
        trial["rank"] = place
    return {
        "run_id": run_id,
        "status": run["status"],
        "reason": run["reason"],
        "metric": plan.metric,
        "goal": plan.goal,
        "sampler": plan.rule if plan.sampler == "random" and plan.rule != "random" else plan.sampler,
        "policy": plan.policy,
        "policy_options": plan.policy_options,
        "space": plan.space,
        "max_total_runs": plan.max_total_runs,
        "max_concurrent_runs": plan.concurrency,
        "max_duration_minutes": plan.max_duration_minutes,
        "resume_from": list(plan.resume_from),
        "trials": trials,
        "best": ranked[0]["run_id"] if ranked else None,
        "importances": importances([(t["parameters"], t["best"]) for t in trials if t["best"] is not None]),
    }


def _trial(row: dict[str, Any], child: Any) -> dict[str, Any]:
    return {
        "number": row["number"],
        "run_id": row["child_id"],
        "parameters": row["parameters"],
        "status": child["status"] if child else row["status"] or "NotStarted",
        "reason": child["reason"] if child else "",
        "stopped": row["stopped"],
        "resumed_from": row["resumed_from"],
        "intervals": row["total"],
        "best": row["best"],
        "best_at": row["best_at"],
        "last": row["last"],
        "rank": None,
        "duration_s": child["duration_s"] if child else None,
    }
