"""Theirs and ours, pure: statuses, runs, experiments, models as MLflow writes them."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any, Optional

from rookery.spec.status import RunStatus

__all__ = [
    "NOTE",
    "PARENT",
    "RUN_NAME",
    "Artifacts",
    "experiment_out",
    "location",
    "milliseconds",
    "number_in",
    "number_out",
    "run_info",
    "run_out",
    "status_in",
    "statuses_of",
    "tags_out",
]

RUN_NAME, PARENT, NOTE, USER = "mlflow.runName", "mlflow.parentRunId", "mlflow.note.content", "mlflow.user"
_STATUS_IN = {
    "RUNNING": RunStatus.RUNNING,
    "SCHEDULED": RunStatus.QUEUED,
    "FINISHED": RunStatus.COMPLETED,
    "FAILED": RunStatus.FAILED,
    "KILLED": RunStatus.CANCELED,
}
_NUMBERS: dict[Any, str] = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}
STATUS_OUT = {
    **dict.fromkeys(RunStatus, "SCHEDULED"),
    RunStatus.RUNNING: "RUNNING",
    RunStatus.FINALIZING: "RUNNING",
    RunStatus.CANCEL_REQUESTED: "RUNNING",
    RunStatus.NOT_RESPONDING: "RUNNING",
    RunStatus.COMPLETED: "FINISHED",
    RunStatus.FAILED: "FAILED",
    RunStatus.CANCELED: "KILLED",
}


class Artifacts:
    """Where clients are told to put files: at this server. Only foreign test suites have another place (`testing.py`)."""

    root = "mlflow-artifacts:"


def location(*parts: str) -> str:
    return "/".join((Artifacts.root, *parts))


def status_in(given: Any) -> Optional[RunStatus]:
    """Their status, by name or number; None where there is none of that name."""
    return _STATUS_IN.get(str(_NUMBERS.get(given, given))) if isinstance(given, (str, int)) else None


def statuses_of(theirs: str) -> list[str]:
    """Ours that are this one of theirs."""
    return [status.value for status, name in STATUS_OUT.items() if name == theirs]


def milliseconds(moment: Optional[str]) -> Optional[int]:
    if not moment:
        return None
    # Not strptime, which takes longer than all else that is done for a run of a page.
    return round(datetime.fromisoformat(moment[:-1]).replace(tzinfo=timezone.utc).timestamp() * 1000)


def number_out(value: Any) -> Any:
    """A metric's value; what JSON has no number for is a text, as protobuf wants it."""
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def number_in(value: Any) -> Optional[float]:
    """A metric's value as it is sent: a number, or a text like "NaN" and "Infinity"; None where it is neither."""
    if isinstance(value, float):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def tags_out(tags: dict[str, Any]) -> list[dict[str, str]]:
    return [{"key": key, "value": "" if value is None else value} for key, value in tags.items()]


def run_info(run: dict[str, Any]) -> dict[str, Any]:
    gone = run["deleted_utc"] or run["archived_utc"]
    info = {
        "run_id": run["id"],
        "run_uuid": run["id"],
        "experiment_id": run["experiment_id"],
        "run_name": run["display_name"],
        "user_id": run["tags"].get(USER) or run["submitted_by"],
        "status": STATUS_OUT[RunStatus(run["status"])],
        "start_time": milliseconds(run["started_utc"]) or run["began_ms"],
        "artifact_uri": location(run["experiment_id"], run["id"], "artifacts"),
        "lifecycle_stage": "deleted" if gone else "active",
    }
    if run["ended_utc"]:
        info["end_time"] = milliseconds(run["ended_utc"])
    return info


def run_out(run: dict[str, Any]) -> dict[str, Any]:
    """A run as `record.search` returns it."""
    tags = {**run["tags"], RUN_NAME: run["display_name"]}
    if run["parent_id"]:
        tags.setdefault(PARENT, run["parent_id"])
    if run["description"]:
        tags.setdefault(NOTE, run["description"])
    tags.setdefault(USER, run["submitted_by"])
    data: dict[str, Any] = {"tags": tags_out(tags)}
    if run["params"]:
        data["params"] = tags_out(run["params"])
    if run["metrics"]:
        data["metrics"] = [
            {"key": m["name"], "value": number_out(m["value"]), "timestamp": round(m["time"] * 1000), "step": m["step"]}
            for m in run["metrics"]
        ]
    return {"info": run_info(run), "data": data, **_inputs_out(run["inputs"])}


def _inputs_out(items: list[dict[str, Any]]) -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for item in items:
        if item["kind"] == "dataset":
            inputs.setdefault("dataset_inputs", []).append(item["data"])
        elif item["direction"] == "in":
            inputs.setdefault("model_inputs", []).append({"model_id": item["name"]})
        else:
            outputs.setdefault("model_outputs", []).append(
                {"model_id": item["name"], "step": item["data"].get("step", 0)}
            )
    return {"inputs": inputs, "outputs": outputs}


def experiment_out(experiment: dict[str, Any]) -> dict[str, Any]:
    created = milliseconds(experiment["created_utc"])
    shown = {
        "experiment_id": experiment["id"],
        "name": experiment["name"],
        "artifact_location": location(experiment["id"]),
        "lifecycle_stage": "deleted" if experiment["archived_utc"] else "active",
        "creation_time": created,
        "last_update_time": milliseconds(experiment["archived_utc"]) or created,
    }
    if experiment["tags"]:
        shown["tags"] = tags_out(experiment["tags"])
    return shown
