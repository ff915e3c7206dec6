"""LoggedModels: models as runs log them."""

from __future__ import annotations

import secrets
from typing import Any

from rookery.record.search import Order
from rookery.server.mlflow.artifacts import shown_files
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import location, number_out, tags_out
from rookery.server.mlflow.errors import invalid, missing
from rookery.server.mlflow.experiments import find_experiment
from rookery.server.mlflow.filters import LOGGED_MODELS, parse_filter, parse_order
from rookery.server.mlflow.names import invented_name
from rookery.server.mlflow.pages import page, select
from rookery.server.mlflow.places import place_of

__all__ = [
    "create",
    "delete",
    "delete_tag",
    "finalize",
    "get",
    "list_files",
    "log_params",
    "model_out",
    "search",
    "set_tags",
]

_STATUS = {"pending": "LOGGED_MODEL_PENDING", "ready": "LOGGED_MODEL_READY", "failed": "LOGGED_MODEL_UPLOAD_FAILED"}
_STATUS_IN: dict[Any, str] = {
    **{theirs: ours for ours, theirs in _STATUS.items()},
    1: "pending",
    2: "ready",
    3: "failed",
}


def create(call: Call) -> dict[str, Any]:
    experiment = find_experiment(call.record, call.text("experiment_id", "0"))
    run_id = call.text("source_run_id", "") or None
    call.check_run(run_id)
    name = call.text("name", "") or invented_name()
    if any(c in name for c in "/:.%\"'"):
        raise invalid(
            f"Invalid model name {name!r:.100} provided. Model name must be a non-empty string and cannot contain "
            "'/', ':', '.', '%', '\"', or \"'\"."
        )
    made = call.record.logged_models.create(
        "m-" + secrets.token_hex(16),
        experiment["id"],
        name,
        run_id=run_id,
        model_type=call.text("model_type", ""),
        params=call.pairs("params"),
        tags=call.pairs("tags"),
    )
    return {"model": model_out(made)}


def get(call: Call) -> dict[str, Any]:
    return {"model": model_out(call.record.logged_models.get(call.path["model_id"]))}


def finalize(call: Call) -> dict[str, Any]:
    model_id = _own(call)
    status = _STATUS_IN.get(call.args.get("status")) if isinstance(call.args.get("status"), (str, int)) else None
    if status is None:
        raise invalid(
            f"Invalid value {call.args.get('status')!r:.60} for parameter 'status'. Known: {', '.join(_STATUS.values())}."
        )
    return {"model": model_out(call.record.logged_models.change(model_id, status=status))}


def delete(call: Call) -> dict[str, Any]:
    call.record.logged_models.delete(_own(call))
    return {}


def log_params(call: Call) -> dict[str, Any]:
    call.record.logged_models.change(_own(call), params=call.pairs("params"))
    return {}


def set_tags(call: Call) -> dict[str, Any]:
    return {"model": model_out(call.record.logged_models.change(_own(call), tags=call.pairs("tags")))}


def delete_tag(call: Call) -> dict[str, Any]:
    model_id, key = _own(call), call.path["key"]
    if key not in call.record.logged_models.get(model_id)["tags"]:
        raise missing(f"No tag with key {key!r:.250} found for model with ID {model_id!r}.")
    call.record.logged_models.change(model_id, remove_tags=[key])
    return {}


def list_files(call: Call) -> dict[str, Any]:
    model = call.record.logged_models.get(call.path["model_id"])
    folder = call.text("artifact_directory_path", "").strip("/")
    base = f"{model['experiment_id']}/models/{model['id']}/artifacts"
    place = place_of(call.record, f"{base}/{folder}" if folder else base)
    shown = shown_files(place.files(call.record), place.inner, folder + "/" if folder else "")
    return {"root_uri": location(base), **({"files": shown} if shown else {})}


def search(call: Call) -> dict[str, Any]:
    ids = call.texts("experiment_ids")
    ids = [find_experiment(call.record, "0")["id"] if i == "0" else i for i in ids]
    conditions = parse_filter(call.text("filter", ""), LOGGED_MODELS)
    orders = [_order(item) for item in call.items("order_by")]
    datasets = {(d.get("dataset_name"), d.get("dataset_digest")) for d in call.items("datasets")}
    found = [model_out(model) for model in call.record.logged_models.list(ids)] if ids else []

    def value_of(model: dict[str, Any], kind: str, key: str) -> Any:
        return _value(model, kind, key, datasets)

    if datasets and not any(c.kind == "metric" for c in conditions):
        found = [m for m in found if any(_is_on(metric, datasets) for metric in m["data"].get("metrics", []))]
    limit = call.integer("max_results", 50, 1, 50_000)
    shown, token = page(select(found, conditions, orders, value_of), limit, call.text("page_token", ""))
    return {**({"models": shown} if shown else {}), **({"next_page_token": token} if token else {})}


def model_out(model: dict[str, Any]) -> dict[str, Any]:
    info = {
        "model_id": model["id"],
        "experiment_id": model["experiment_id"],
        "name": model["name"],
        "creation_timestamp_ms": model["created_ms"],
        "last_updated_timestamp_ms": model["modified_ms"],
        "artifact_uri": location(model["experiment_id"], "models", model["id"], "artifacts"),
        "status": _STATUS[model["status"]],
    }
    for theirs, ours in (("model_type", "model_type"), ("source_run_id", "run_id")):
        if model[ours]:
            info[theirs] = model[ours]
    if model["tags"]:
        info["tags"] = tags_out(model["tags"])
    data: dict[str, Any] = {}
    if model["params"]:
        data["params"] = tags_out(model["params"])
    if model["metrics"]:
        data["metrics"] = [_metric_out(metric) for metric in model["metrics"]]
    return {"info": info, "data": data}


def _metric_out(metric: dict[str, Any]) -> dict[str, Any]:
    shown = {
        "key": metric["key"],
        "value": number_out(metric["value"]),
        "timestamp": metric["time_ms"],
        "step": metric["step"],
        "model_id": metric["model_id"],
        "run_id": metric["run_id"],
    }
    for name in ("dataset_name", "dataset_digest"):
        if metric[name]:
            shown[name] = metric[name]
    return shown


def _own(call: Call) -> str:
    model = call.record.logged_models.get(call.path["model_id"])
    call.check_run(model["run_id"])
    return model["id"]


def _order(item: dict[str, Any]) -> Order:
    name = item.get("field_name")
    if not isinstance(name, str):
        raise invalid("`field_name` in the `order_by` clause must be specified.")
    ascending = item.get("ascending", True)
    if not isinstance(ascending, bool):
        raise invalid(f"Value of `ascending` in the `order_by` clause must be a boolean, got {ascending!r:.40}.")
    entity, dot, _ = name.partition(".")
    if dot and entity != "metrics":
        raise invalid(f"Invalid order by field name: {entity:.80}, only `metrics.<name>` is allowed.")
    found = parse_order(name, LOGGED_MODELS)
    return Order(found.kind, found.key, ascending)


def _value(model: dict[str, Any], kind: str, key: str, datasets: set[Any]) -> Any:
    if kind == "metric":
        found = [
            m for m in model["data"].get("metrics", []) if m["key"] == key and (not datasets or _is_on(m, datasets))
        ]
        return float(found[0]["value"]) if found else None
    if kind in ("param", "tag"):
        pairs = model["data"].get("params", []) if kind == "param" else model["info"].get("tags", [])
        return next((pair["value"] for pair in pairs if pair["key"] == key), None)
    value = model["info"].get(key)
    return value.replace("LOGGED_MODEL_", "") if key == "status" and value else value


def _is_on(metric: dict[str, Any], datasets: set[Any]) -> bool:
    name, digest = metric.get("dataset_name"), metric.get("dataset_digest")
    return (name, digest) in datasets or (name, None) in datasets
