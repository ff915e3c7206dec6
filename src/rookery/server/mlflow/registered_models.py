"""Registered models: the names of the registry, the same that v1's `Model` has."""

from __future__ import annotations

import re
from typing import Any

from rookery.errors import ModelNotFoundError
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import milliseconds, tags_out
from rookery.server.mlflow.errors import MlflowError, invalid, missing
from rookery.server.mlflow.filters import REGISTERED_MODELS, parse_filter, parse_order
from rookery.server.mlflow.pages import page, select
from rookery.server.mlflow.versions import read_version, version_out

__all__ = [
    "change",
    "create",
    "delete",
    "delete_alias",
    "delete_tag",
    "find_name",
    "get",
    "get_alias",
    "rename",
    "search",
    "set_alias",
    "set_tag",
]

_ALIAS = re.compile(r"[\w\-]{1,255}\Z")


def create(call: Call) -> dict[str, Any]:
    name = _checked(call.text("name"))
    try:
        made = call.record.model_names.create(name, call.text("description", ""), call.pairs("tags"))
    except Exception as error:
        if getattr(error, "details", {}).get("exists"):
            raise MlflowError("RESOURCE_ALREADY_EXISTS", f"Registered Model (name={name}) already exists.") from None
        raise
    return {"registered_model": model_out(made)}


def get(call: Call) -> dict[str, Any]:
    return {"registered_model": model_out(find_name(call, call.text("name")))}


def search(call: Call) -> dict[str, Any]:
    limit = call.integer("max_results", 100, 1, 1000)
    conditions = parse_filter(call.text("filter", ""), REGISTERED_MODELS)
    order = [parse_order(text, REGISTERED_MODELS) for text in call.texts("order_by")]
    found = [model_out(model) for model in call.record.model_names.list()]
    shown, token = page(select(found, conditions, order, _value), limit, call.text("page_token", ""))
    return {**({"registered_models": shown} if shown else {}), **({"next_page_token": token} if token else {})}


def rename(call: Call) -> dict[str, Any]:
    name, new_name = call.text("name"), _checked(call.text("new_name"))
    find_name(call, name)
    return {"registered_model": model_out(call.record.model_names.rename(name, new_name))}


def change(call: Call) -> dict[str, Any]:
    name = call.text("name")
    find_name(call, name)
    changed = call.record.model_names.change(name, description=call.text("description", ""))
    return {"registered_model": model_out(changed)}


def delete(call: Call) -> dict[str, Any]:
    name = call.text("name")
    find_name(call, name)
    call.record.model_names.delete(name)
    return {}


def set_tag(call: Call) -> dict[str, Any]:
    name = call.text("name")
    find_name(call, name)
    call.record.model_names.change(name, tags={call.text("key"): call.text("value", "")})
    return {}


def delete_tag(call: Call) -> dict[str, Any]:
    name = call.text("name")
    find_name(call, name)
    call.record.model_names.change(name, remove_tags=[call.text("key")])
    return {}


def get_alias(call: Call) -> dict[str, Any]:
    name, alias = call.text("name"), call.text("alias")
    version = find_name(call, name)["aliases"].get(alias)
    if version is None:
        raise invalid(f"Registered model alias {alias:.255} not found.")
    return {"model_version": version_out(call.record.models.get(name, version))}


def set_alias(call: Call) -> dict[str, Any]:
    name, alias = call.text("name"), call.text("alias")
    if not _ALIAS.match(alias):
        raise invalid(f"Invalid alias name: {alias!r:.100}. It has 1 to 255 letters, digits, '_' and '-'.")
    if alias.lower() == "latest" or re.fullmatch(r"[vV]\d+", alias):
        raise invalid(f"{alias!r:.100} alias name is reserved. Reserved: latest, and v followed by a number.")
    find_name(call, name)
    version = read_version(call)
    try:
        call.record.model_names.set_alias(name, alias, version)
    except ModelNotFoundError:
        raise missing(f"Model Version (name={name}, version={version}) not found") from None
    return {}


def delete_alias(call: Call) -> dict[str, Any]:
    name = call.text("name")
    find_name(call, name)
    call.record.model_names.set_alias(name, call.text("alias"), None)
    return {}


def find_name(call: Call, name: str) -> dict[str, Any]:
    try:
        return call.record.model_names.get(name)
    except ModelNotFoundError:
        raise missing(f"Registered Model with name={name:.255} not found") from None


def model_out(model: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": model["name"],
        "creation_timestamp": milliseconds(model["created_utc"]) or 0,
        "last_updated_timestamp": milliseconds(model["modified_utc"]) or 0,
    }
    if model["description"]:
        shown["description"] = model["description"]
    if model["latest"]:
        shown["latest_versions"] = [version_out(version) for version in model["latest"]]
    if model["tags"]:
        shown["tags"] = tags_out(model["tags"])
    if model["aliases"]:
        shown["aliases"] = [{"alias": alias, "version": str(to)} for alias, to in sorted(model["aliases"].items())]
    return shown


def _checked(name: str) -> str:
    if not name.strip() or any(c in name for c in "/:"):
        raise invalid(f"Invalid model name: {name!r:.100}. It must not be empty nor contain '/' or ':'.")
    return name


def _value(model: dict[str, Any], kind: str, key: str) -> Any:
    if kind == "tag":
        return next((tag["value"] for tag in model.get("tags", []) if tag["key"] == key), None)
    return model.get("last_updated_timestamp" if key == "timestamp" else key)
