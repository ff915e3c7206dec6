"""Versions of registered models. They are v1's: what one side registers the other can read."""

from __future__ import annotations

from typing import Any

from rookery.errors import ModelNotFoundError
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.errors import invalid, missing
from rookery.server.mlflow.filters import VERSIONS, parse_filter, parse_order
from rookery.server.mlflow.pages import page, select
from rookery.server.mlflow.registered_models import find_name
from rookery.server.mlflow.versions import STAGES, download_location, read_version, source_entries, version_out

__all__ = [
    "change",
    "create",
    "delete",
    "delete_tag",
    "download_uri",
    "get",
    "latest",
    "search",
    "set_tag",
    "transition",
]


def create(call: Call) -> dict[str, Any]:
    name, source = call.text("name"), call.text("source")
    if source.startswith(("file:", "/")) or ".." in source.split("/"):
        raise invalid(
            f"Invalid model version source: '{source:.200}'. It must be an artifact of this server or a remote address: a path on "
            "somebody's disk means nothing to others."
        )
    find_name(call, name)
    model_id = call.text("model_id", "")
    entries, from_run, is_folder = source_entries(call.record, source, model_id)
    run_id = call.text("run_id", "") or from_run or ""
    call.check_run(run_id or None)
    if run_id and call.record.search.one(run_id) is None:
        run_id = ""
    body = {
        "name": name,
        "source": source,
        "entries": entries,
        "is_folder": is_folder,
        "description": call.text("description", ""),
        "tags": call.pairs("tags"),
        "source_link": call.text("run_link", "") or None,
        "logged_model_id": model_id or (source[len("models:/") :] if source.startswith("models:/m-") else None),
        "framework": "MLflow",
        "run_id": run_id or None,
    }
    return {"model_version": version_out(call.record.models.register(body, str(call.principal)))}


def get(call: Call) -> dict[str, Any]:
    return {"model_version": version_out(_find(call))}


def download_uri(call: Call) -> dict[str, Any]:
    return {"artifact_uri": download_location(_find(call), call.record)}


def latest(call: Call) -> dict[str, Any]:
    model = find_name(call, call.text("name"))
    wanted = [_stage(name) for name in call.texts("stages")]
    found = [version_out(v) for v in model["latest"] if not wanted or (v.get("stage") or "None") in wanted]
    return {"model_versions": found} if found else {}


def search(call: Call) -> dict[str, Any]:
    limit = call.integer("max_results", 200_000, 1, 200_000)
    conditions = parse_filter(call.text("filter", ""), VERSIONS)
    order = [parse_order(text, VERSIONS) for text in call.texts("order_by")]
    names = [c.value for c in conditions if c.kind == "attribute" and c.key == "name" and c.op == "="]
    found = [version_out(model) for model in call.record.models.list(name=names[0] if names else None)]
    if not order:
        found.sort(key=lambda v: (-v["last_updated_timestamp"], v["name"], -int(v["version"])))
    shown, token = page(select(found, conditions, order, _value), limit, call.text("page_token", ""))
    return {**({"model_versions": shown} if shown else {}), **({"next_page_token": token} if token else {})}


def change(call: Call) -> dict[str, Any]:
    model = _find(call)
    changed = call.record.models.change(model["name"], model["version"], {"description": call.text("description", "")})
    return {"model_version": version_out(changed)}


def delete(call: Call) -> dict[str, Any]:
    model = _find(call)
    call.record.models.delete(model["name"], model["version"])
    return {}


def transition(call: Call) -> dict[str, Any]:
    model, stage = _find(call), _stage(call.text("stage"))
    archives = call.flag("archive_existing_versions")
    if archives and stage not in ("Staging", "Production"):
        raise invalid(
            f"Model version transition cannot archive existing model versions because '{stage}' is not an Active stage. "
            "Valid stages are Production, Staging."
        )
    if archives:
        for other in call.record.models.list(name=model["name"]):
            if other.get("stage") == stage and other["version"] != model["version"]:
                call.record.models.change(other["name"], other["version"], {"stage": "Archived"})
    return {"model_version": version_out(call.record.models.change(model["name"], model["version"], {"stage": stage}))}


def set_tag(call: Call) -> dict[str, Any]:
    model = _find(call)
    call.record.models.change(model["name"], model["version"], {"tags": {call.text("key"): call.text("value", "")}})
    return {}


def delete_tag(call: Call) -> dict[str, Any]:
    model = _find(call)
    call.record.models.change(model["name"], model["version"], {"remove_tags": [call.text("key")]})
    return {}


def _find(call: Call) -> dict[str, Any]:
    name, version = call.text("name"), read_version(call)
    try:
        return call.record.models.get(name, version)
    except ModelNotFoundError:
        raise missing(f"Model Version (name={name:.255}, version={version}) not found") from None


def _stage(name: str) -> str:
    if name.lower() not in STAGES:
        raise invalid(f"Invalid Model Version stage: {name:.60}. Value must be one of {', '.join(STAGES.values())}.")
    return STAGES[name.lower()]


def _value(version: dict[str, Any], kind: str, key: str) -> Any:
    if kind == "tag":
        return next((tag["value"] for tag in version.get("tags", []) if tag["key"] == key), None)
    return int(version["version"]) if key == "version" else version.get(key)
