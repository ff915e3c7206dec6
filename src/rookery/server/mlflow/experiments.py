"""Experiments."""

from __future__ import annotations

from typing import Any

from rookery.errors import ExperimentNotFoundError
from rookery.record import Record
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import experiment_out
from rookery.server.mlflow.errors import invalid, missing
from rookery.server.mlflow.filters import EXPERIMENTS, parse_filter, parse_order
from rookery.server.mlflow.pages import page, select

__all__ = [
    "create",
    "delete",
    "delete_tag",
    "find_experiment",
    "get",
    "get_by_name",
    "rename",
    "restore",
    "search",
    "set_tag",
    "view_of",
]

DEFAULT = "Default"
DEFAULT_ID = "0"
VIEWS = {"ACTIVE_ONLY": "active", "DELETED_ONLY": "archived", "ALL": "all", "1": "active", "2": "archived", "3": "all"}
MAX_RESULTS = 50_000


def create(call: Call) -> dict[str, Any]:
    name = call.text("name")
    tags = call.pairs("tags")
    location = call.text("artifact_location", "")
    if location and not location.startswith("mlflow-artifacts:"):
        raise invalid(
            f"artifact_location={location!r:.200} is not possible: artifacts are kept by this server. Leave it out."
        )
    find_default(call.record)
    return {"experiment_id": call.record.experiments.create(name, tags)["id"]}


def get(call: Call) -> dict[str, Any]:
    return {"experiment": experiment_out(find_experiment(call.record, call.text("experiment_id")))}


def get_by_name(call: Call) -> dict[str, Any]:
    name = call.text("experiment_name")
    if name == DEFAULT:
        find_default(call.record)
    try:
        return {"experiment": experiment_out(call.record.experiments.get(name))}
    except ExperimentNotFoundError:
        raise missing(f"Could not find experiment with name '{name}'") from None


def search(call: Call) -> dict[str, Any]:
    limit = call.integer("max_results", 1000, 1, MAX_RESULTS)
    conditions = parse_filter(call.text("filter", ""), EXPERIMENTS)
    order = [parse_order(text, EXPERIMENTS) for text in call.texts("order_by")]
    find_default(call.record)
    found = [experiment_out(e) for e in call.record.experiments.list(view_of(call, "view_type"))]
    found.sort(key=lambda e: (-e["creation_time"], e["experiment_id"]))
    shown, token = page(select(found, conditions, order, _value), limit, call.text("page_token", ""))
    return {**({"experiments": shown} if shown else {}), **({"next_page_token": token} if token else {})}


def rename(call: Call) -> dict[str, Any]:
    found = find_experiment(call.record, call.text("experiment_id"))
    if found["archived_utc"]:
        raise invalid("Cannot rename a non-active experiment.")
    call.record.experiments.change(found["name"], new_name=call.text("new_name"))
    return {}


def delete(call: Call) -> dict[str, Any]:
    found = find_experiment(call.record, call.text("experiment_id"))
    if found["archived_utc"]:
        raise missing(f"No active experiment with id={found['id']} exists")
    call.record.experiments.change(found["name"], archived=True)
    return {}


def restore(call: Call) -> dict[str, Any]:
    found = find_experiment(call.record, call.text("experiment_id"))
    if not found["archived_utc"]:
        raise missing(f"No deleted experiment with id={found['id']} exists")
    call.record.experiments.change(found["name"], archived=False)
    return {}


def set_tag(call: Call) -> dict[str, Any]:
    found = find_experiment(call.record, call.text("experiment_id"))
    if found["archived_utc"]:
        raise invalid(f"The experiment {found['id']} must be in the 'active' state. Current state is deleted.")
    call.record.experiments.change(found["name"], tags={call.text("key"): call.text("value", "")})
    return {}


def delete_tag(call: Call) -> dict[str, Any]:
    found = find_experiment(call.record, call.text("experiment_id"))
    key = call.text("key")
    if key not in found["tags"]:
        raise missing(f"No tag with name: {key} in experiment with id {found['id']}")
    call.record.experiments.change(found["name"], remove_tags=[key])
    return {}


def find_experiment(record: Record, experiment_id: str) -> dict[str, Any]:
    """By id; '0' is the one named Default, made when it is first asked for."""
    if experiment_id == DEFAULT_ID:
        return find_default(record)
    try:
        return record.experiments.by_id(experiment_id)
    except ExperimentNotFoundError:
        raise missing(f"No Experiment with id={experiment_id:.80} exists") from None


def find_default(record: Record) -> dict[str, Any]:
    try:
        return record.experiments.get(DEFAULT)
    except ExperimentNotFoundError:
        pass
    try:
        return record.experiments.by_id(DEFAULT_ID)  # somebody has renamed it
    except ExperimentNotFoundError:
        return record.experiments.create(DEFAULT, experiment_id=DEFAULT_ID)


def view_of(call: Call, name: str) -> str:
    word = call.text(name, "ACTIVE_ONLY")
    if word not in VIEWS:
        raise invalid(f"Invalid value {word!r:.40} for parameter '{name}'. Known: ACTIVE_ONLY, DELETED_ONLY, ALL.")
    return VIEWS[word]


def _value(experiment: dict[str, Any], kind: str, key: str) -> Any:
    if kind == "tag":
        return next((tag["value"] for tag in experiment.get("tags", []) if tag["key"] == key), None)
    return experiment.get(key)
