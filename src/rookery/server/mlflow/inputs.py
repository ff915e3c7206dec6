"""What a run used and what it made: datasets and models."""

from __future__ import annotations

import json
from typing import Any

from rookery.server.mlflow.call import Call
from rookery.server.mlflow.errors import invalid
from rookery.server.mlflow.runs import find_run

__all__ = ["log_inputs", "log_model", "log_outputs"]

CONTEXT = "mlflow.data.context"
HISTORY = "mlflow.log-model.history"


def log_inputs(call: Call) -> dict[str, Any]:
    run_id = call.own_run_id()
    find_run(call, run_id)
    items = [_dataset(item) for item in call.items("datasets")] + [
        {"direction": "in", "kind": "model", "name": _model_id(item)} for item in call.items("models")
    ]
    call.record.inputs.add(run_id, items)
    return {}


def log_outputs(call: Call) -> dict[str, Any]:
    run_id = call.own_run_id()
    find_run(call, run_id)
    items = [
        {"direction": "out", "kind": "model", "name": _model_id(item), "data": {"step": int(item.get("step") or 0)}}
        for item in call.items("models")
    ]
    call.record.inputs.add(run_id, items)
    return {}


def log_model(call: Call) -> dict[str, Any]:
    """MLflow 2's way: the model is described by a tag of its run."""
    run_id = call.own_run_id()
    run = find_run(call, run_id)
    try:
        described = json.loads(call.text("model_json"))
        if not isinstance(described, dict):
            raise ValueError
    except ValueError:
        raise invalid("Malformed model info: model_json must be a JSON object.") from None
    absent = [key for key in ("artifact_path", "flavors", "utc_time_created", "run_id") if key not in described]
    if absent:
        raise invalid(f"Model json is missing mandatory fields: {absent}")
    history = json.loads(run["tags"].get(HISTORY) or "[]")
    call.record.external.log(run_id, tags={HISTORY: json.dumps([*history, described])})
    return {}


def _dataset(item: dict[str, Any]) -> dict[str, Any]:
    dataset, tags = item.get("dataset"), item.get("tags") or []
    if not isinstance(dataset, dict) or not isinstance(tags, list):
        raise invalid("Invalid value for parameter 'datasets' supplied: each has a dataset and tags.")
    for field in ("name", "digest", "source_type", "source"):
        if not isinstance(dataset.get(field), str) or not dataset[field]:
            raise invalid(f"Missing value for required parameter 'datasets[].dataset.{field}'.")
    context = next((t.get("value") for t in tags if isinstance(t, dict) and t.get("key") == CONTEXT), None)
    return {
        "direction": "in",
        "kind": "dataset",
        "name": dataset["name"],
        "digest": dataset["digest"],
        "context": context,
        "data": {"dataset": dataset, "tags": tags},
    }


def _model_id(item: dict[str, Any]) -> str:
    model_id = item.get("model_id")
    if not isinstance(model_id, str) or not model_id:
        raise invalid("Missing value for required parameter 'models[].model_id'.")
    return model_id
