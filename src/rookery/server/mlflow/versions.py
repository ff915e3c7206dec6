"""A version of the registry as MLflow writes it, and where one's files come from."""

from __future__ import annotations

import re
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.record import Record
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import Artifacts, location, milliseconds, tags_out
from rookery.server.mlflow.errors import invalid
from rookery.server.mlflow.places import REGISTERED, place_of

__all__ = ["STAGES", "download_location", "read_version", "source_entries", "version_out"]

STAGES = {name.lower(): name for name in ("None", "Staging", "Production", "Archived")}


def version_out(model: dict[str, Any]) -> dict[str, Any]:
    created = milliseconds(model["created_utc"])
    shown: dict[str, Any] = {
        "name": model["name"],
        "version": str(model["version"]),
        "creation_timestamp": created,
        "last_updated_timestamp": milliseconds(model.get("modified_utc")) or created,
        "current_stage": model.get("stage") or "None",
        "description": model["description"] or "",
        "source": model.get("source") or download_location(model),
        "run_id": model["run_id"] or "",
        "run_link": model.get("source_link") or "",
        "status": "READY",
    }
    if model["tags"]:
        shown["tags"] = tags_out(model["tags"])
    if model["aliases"]:
        shown["aliases"] = model["aliases"]
    if model.get("logged_model_id"):
        shown["model_id"] = model["logged_model_id"]
    return shown


def download_location(model: dict[str, Any], record: Optional[Record] = None) -> str:
    """Where the files of a version are had: at what it was registered from, else at the registry itself."""
    source = model.get("source") or ""
    if model.get("logged_model_id") and record is not None:
        try:
            logged = record.logged_models.get(model["logged_model_id"])
            return location(logged["experiment_id"], "models", logged["id"], "artifacts")
        except RookeryError:
            source = ""
    if source and not source.startswith("models:/"):
        return source
    return location(REGISTERED, model["name"], str(model["version"]))


def read_version(call: Call) -> int:
    text = call.text("version")
    if not re.fullmatch(r"\d{1,18}", text):
        raise invalid(f"Parameter 'version' must be an integer, got '{text:.60}'.")
    return int(text)


def source_entries(record: Record, source: str, model_id: str) -> tuple[list[dict[str, Any]], Optional[str], bool]:
    """(files that the registry links, the run they are of, whether it is a folder). No files where the source is elsewhere."""
    if model_id or source.startswith("models:/m-"):
        logged = record.logged_models.get(model_id or source[len("models:/") :])
        base = f"{logged['experiment_id']}/models/{logged['id']}/artifacts"
        return _entries(record, base, logged["name"]), logged["run_id"], True
    copied = re.fullmatch(r"models:/([^/]+)/(\d+)", source)
    if copied:
        model = record.models.get(copied.group(1), int(copied.group(2)))
        return (
            [{k: f[k] for k in ("path", "sha256", "size")} for f in model["files"]],
            model["run_id"],
            model["is_folder"],
        )
    path = None
    ran = re.fullmatch(r"runs:/([^/]+)/?(.*)", source)
    if ran:
        run = record.search.one(ran.group(1))
        path = None if run is None else f"{run['experiment_id']}/{run['id']}/artifacts/{ran.group(2)}"
    elif source.startswith(Artifacts.root + "/"):
        path = source[len(Artifacts.root) :].lstrip("/")
    if path is None:
        return [], None, True
    place = place_of(record, path)
    name = place.path.rpartition("/")[2] or "model"
    is_file = place.find(record) is not None
    if is_file:
        name = ""
    return _entries(record, place.path, name), place.run_id, not is_file


def _entries(record: Record, path: str, folder: str) -> list[dict[str, Any]]:
    """Paths begin with the name of the folder, as they do in every model here."""
    place = place_of(record, path)
    start = len(place.inner) + 1 if place.inner else 0
    return [
        {
            "path": f"{folder}/{file['name'][start:]}" if folder else file["name"].rpartition("/")[2],
            "sha256": file["sha256"],
            "size": file["size"],
        }
        for file in place.files(record)
        if not folder or file["name"] != place.inner
    ]
