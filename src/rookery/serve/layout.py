"""The app root of a revision: its source, its models where AZUREML_MODEL_DIR says, and nothing of anybody else's."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from rookery.errors import PathError
from rookery.record import Record
from rookery.record.storage import storage_errors
from rookery.spec.names import check_artifact_name

__all__ = ["MODELS", "lay_out", "model_dir"]

MODELS = "azureml-models"


def lay_out(record: Record, what: dict[str, Any], folder: str) -> None:
    """Makes the folder, whole or not at all; one that is there is left as it is. Files are copied: user code may write to its own.

    Args:
        what: models and inference, as `asked.check_what` gives them.
    """
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    with storage_errors(parent):
        os.makedirs(parent, mode=0o700, exist_ok=True)
        partial = tempfile.mkdtemp(prefix=".making-", dir=parent)
        try:
            inference = what["inference"]
            if inference is not None:
                base = os.path.join(partial, inference["source_name"]) if inference["source_name"] else partial
                os.makedirs(base, exist_ok=True)
                for entry in record.snapshots.entries(inference["snapshot_id"]):
                    _place_entry(record, base, entry)
            for one in what["models"]:
                model = record.models.get(one["name"], one["version"])
                base = os.path.join(partial, MODELS, one["name"], str(one["version"]))
                os.makedirs(base, exist_ok=True)
                for file in model["files"]:
                    _place(record, base, file["path"], file["sha256"], 0o644)
            os.rename(partial, folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def model_dir(folder: str, what: dict[str, Any]) -> str:
    """AZUREML_MODEL_DIR: the version's own folder for one model, the parent of all for several."""
    models = what["models"]
    if len(models) == 1:
        return os.path.join(folder, MODELS, models[0]["name"], str(models[0]["version"]))
    return os.path.join(folder, MODELS)


def _place_entry(record: Record, base: str, entry: dict[str, Any]) -> None:
    if entry.get("link") is None:
        _place(record, base, entry["path"], entry["sha256"], int(entry.get("mode") or 0o644))
        return
    target = _target(base, entry["path"])
    os.symlink(entry["link"], target)  # checked when the snapshot was made: it stays inside


def _place(record: Record, base: str, path: str, sha256: str, mode: int) -> None:
    target = _target(base, path)
    with record.content.open(sha256) as source, open(target, "xb") as made:
        shutil.copyfileobj(source, made, 1024 * 1024)
    os.chmod(target, (mode & 0o777) | 0o600)


def _target(base: str, path: str) -> str:
    target = os.path.join(base, *check_artifact_name(path).split("/"))
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    inside = os.path.realpath(base)
    if os.path.commonpath([os.path.realpath(folder), inside]) != inside:
        raise PathError(f"'{path}' leaves the app root through a link.")
    return target
