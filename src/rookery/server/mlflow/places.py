"""The paths of the artifact proxy: whose files they are, and where the record keeps them.

<experiment>/<run>/artifacts/…             the run's artifacts
rookery-models/<model>/<version>/…         a registered version's files, to be read
anything else                              loose files: those of logged models, of traces, of nobody
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import ModelNotFoundError
from rookery.record import Record
from rookery.server.mlflow.errors import MlflowError, invalid
from rookery.spec.names import check_artifact_name

__all__ = ["REGISTERED", "Place", "place_of"]

REGISTERED = "rookery-models"


@dataclass(frozen=True)
class Place:
    """A path, read. `run_id`: the run that it belongs to; `inner`: the path inside of that run or version."""

    path: str
    inner: str
    run_id: Optional[str] = None
    model: Optional[tuple[str, int]] = None
    logged_model: Optional[str] = None
    is_trace: bool = False

    def files(self, record: Record) -> list[dict[str, Any]]:
        """Every file at or below it: name (relative to what `inner` is relative to), sha256, size."""
        if self.run_id is not None:
            found = record.artifacts.list(self.run_id, self.inner)
        elif self.model is not None:
            found = model_files(record, *self.model)
        else:
            one = record.loose_files.find(self.path)
            found = [*([one] if one else []), *record.loose_files.below(self.path)]
        return [f for f in found if not self.inner or f["name"] == self.inner or f["name"].startswith(self.inner + "/")]

    def find(self, record: Record) -> Optional[dict[str, Any]]:
        """The file at exactly this path."""
        if self.run_id is not None:
            return record.artifacts.find(self.run_id, self.inner) if self.inner else None
        if self.model is not None:
            return next((f for f in self.files(record) if f["name"] == self.inner), None)
        return record.loose_files.find(self.path)

    def link(self, record: Record, sha256: str) -> None:
        if self.model is not None:
            raise MlflowError(
                "PERMISSION_DENIED", f"{self.path!r:.200} belongs to a registered version, which does not change."
            )
        if self.run_id is not None:
            if not self.inner:
                raise invalid(f"Invalid path: {self.path!r:.200} names a folder.")
            record.artifacts.link(self.run_id, self.inner, sha256)
        else:
            record.loose_files.link(self.path, sha256)

    def delete(self, record: Record) -> int:
        if self.model is not None:
            raise MlflowError("PERMISSION_DENIED", f"{self.path!r:.200} belongs to a registered version. Delete that.")
        if self.run_id is not None:
            return record.artifacts.delete(self.run_id, self.inner)
        return record.loose_files.delete(self.path)


def place_of(record: Record, given: str) -> Place:
    """Reads a path from outside; one that leaves its folder is refused."""
    if not given.strip("/"):
        return Place("", "")
    path = check_artifact_name(given.strip("/"))
    parts = path.split("/")
    if parts[0] == REGISTERED and len(parts) >= 3 and parts[2].isdigit():
        return Place(path, "/".join(parts[3:]), model=(parts[1], int(parts[2])))
    if len(parts) >= 3 and parts[2] == "artifacts":
        run = record.search.one(parts[1])
        if run is not None and run["experiment_id"] == parts[0]:
            return Place(path, "/".join(parts[3:]), run_id=run["id"])
    if len(parts) >= 4 and parts[1] == "models" and parts[3] == "artifacts":
        return Place(path, path, logged_model=parts[2])
    return Place(path, path, is_trace=len(parts) >= 3 and parts[1] == "traces")


def model_files(record: Record, name: str, version: int) -> list[dict[str, Any]]:
    """A version's files; those of a folder without its name, so that what was in it lies at the top."""
    try:
        model = record.models.get(name, version)
    except ModelNotFoundError:
        return []
    return [
        {**file, "name": file["path"].partition("/")[2] if model["is_folder"] and "/" in file["path"] else file["path"]}
        for file in model["files"]
    ]
