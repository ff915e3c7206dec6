"""An `mlruns` folder, MLflow's file store, read as it lies there: meta.yaml files, and a file per parameter, tag and metric."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Optional

from rookery.bring.artifact_places import folder_of, open_file, walk_folder
from rookery.bring.base import Experiment, File, LoggedModel, Registered, Run, Value, Version
from rookery.bring.mlflow_sqlite import dataset_input
from rookery.bring.mlflow_words import MODEL_STATUS, parents_first
from rookery.errors import UserError

__all__ = ["FolderSource", "folder_path"]

META, TRASH, MODELS = "meta.yaml", ".trash", "models"
STATUS = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}


def folder_path(text: str) -> str:
    """The folder of `file:///…` or a path; `mlruns` below it where that is what was meant."""
    plain = (
        urllib.parse.unquote(urllib.parse.urlsplit(text).path) if text.startswith("file:") else os.path.expanduser(text)
    )
    path = os.path.abspath(plain)
    if not os.path.isdir(path):
        raise UserError(f"{path} does not exist. Give a tracking server, a SQLite file or an mlruns folder.")
    for folder in (path, os.path.join(path, "mlruns")):
        if os.path.isdir(folder) and any(
            os.path.exists(os.path.join(folder, name, META)) for name in os.listdir(folder)
        ):
            return folder
    raise UserError(f"{path} is no mlruns folder: no folder in it has a {META}.")


class FolderSource:
    """Artifacts are taken from beside the runs, wherever the folder has been moved; else from where meta.yaml says."""

    def __init__(self, path: str, artifacts: Optional[str] = None) -> None:
        self.words = f"the folder {path}"
        self._root, self._artifacts = path, artifacts
        self._folders: dict[str, str] = {}  # experiment → its folder

    def close(self) -> None:
        pass

    def experiments(self) -> list[Experiment]:
        found = []
        for base, is_trash in ((self._root, False), (os.path.join(self._root, TRASH), True)):
            for name in _subfolders(base):
                folder = os.path.join(base, name)
                if name in (TRASH, MODELS) or not os.path.exists(os.path.join(folder, META)):
                    continue
                meta = _read_meta(folder)
                identity = str(meta["experiment_id"])
                self._folders[identity] = folder
                gone = is_trash or meta.get("lifecycle_stage") == "deleted"
                found.append(
                    Experiment(identity, str(meta["name"]), meta.get("creation_time"), gone, _texts(folder, "tags"))
                )
        return sorted(found, key=lambda e: (e.created_ms or 0, e.id))

    def count_runs(self, experiment_ids: Sequence[str]) -> int:
        return sum(len(self._run_ids(i)) for i in experiment_ids)

    def runs(self, experiment: Experiment) -> Iterator[Run]:
        runs = {i: self._run(experiment, i) for i in self._run_ids(experiment.id)}
        ids = sorted(runs, key=lambda i: (runs[i].began_ms or 0, i))
        for run_id in parents_first(ids, {i: run.tags.get("mlflow.parentRunId", "") for i, run in runs.items()}):
            yield runs[run_id]

    def values(self, run: Run, metric: str) -> Iterable[Value]:
        path = os.path.join(self._folders[run.experiment_id], run.id, "metrics", *metric.split("/"))
        with open(path, encoding="utf-8") as f:
            for line in f:
                parts = line.split()
                if len(parts) >= 2:
                    yield float(parts[1]), int(parts[2]) if len(parts) > 2 else 0, int(parts[0])

    def logged_models(self, experiment: Experiment) -> Iterator[LoggedModel]:
        base = os.path.join(self._folders[experiment.id], MODELS)
        for name in _subfolders(base):
            folder = os.path.join(base, name)
            if not os.path.exists(os.path.join(folder, META)):
                continue
            meta = _read_meta(folder)
            yield LoggedModel(
                id=meta["model_id"],
                experiment_id=experiment.id,
                name=meta["name"],
                run_id=meta.get("source_run_id") or "",
                type=meta.get("model_type") or "",
                status=MODEL_STATUS.get(meta.get("status"), "pending"),
                created_ms=int(meta["creation_timestamp"]),
                modified_ms=int(meta["last_updated_timestamp"]),
                is_deleted=meta.get("lifecycle_stage") == "deleted",
                artifacts=meta.get("artifact_location") or "",
                tags=_texts(folder, "tags"),
                params=_texts(folder, "params"),
                metrics=[m for key, text in _texts(folder, "metrics").items() for m in _model_metrics(key, text)],
            )

    def registered(self) -> Iterator[Registered]:
        base = os.path.join(self._root, MODELS)
        for name in _subfolders(base):
            folder = os.path.join(base, name)
            if not os.path.exists(os.path.join(folder, META)):
                continue
            meta = _read_meta(folder)
            versions = [_version(os.path.join(folder, v)) for v in _subfolders(folder) if v.startswith("version-")]
            yield Registered(
                str(meta["name"]),
                meta.get("description") or "",
                meta.get("creation_timestamp"),
                meta.get("last_updated_timestamp"),
                _texts(folder, "tags"),
                {alias: int(version) for alias, version in _texts(folder, "aliases").items()},
                sorted((v for v in versions if v is not None), key=lambda v: v.number),
            )

    def files(self, of: Any) -> Iterator[File]:
        below = [MODELS, of.id] if isinstance(of, LoggedModel) else [of.id]
        beside = os.path.join(self._folders[of.experiment_id], *below, "artifacts")
        if os.path.isdir(beside):
            return walk_folder(beside)
        return walk_folder(folder_of(of.artifacts, os.path.dirname(self._root), self._artifacts))

    def open(self, file: File) -> BinaryIO:
        return open_file(file)

    def _run_ids(self, experiment_id: str) -> list[str]:
        folder = self._folders[experiment_id]
        known = ("tags", "datasets", "traces", MODELS)
        return [
            name
            for name in _subfolders(folder)
            if name not in known and os.path.exists(os.path.join(folder, name, META))
        ]

    def _run(self, experiment: Experiment, run_id: str) -> Run:
        folder = os.path.join(self._folders[experiment.id], run_id)
        meta, tags = _read_meta(folder), _texts(folder, "tags")
        named = tags.pop("mlflow.runName", "")
        status = meta.get("status")
        return Run(
            id=run_id,
            experiment_id=experiment.id,
            name=meta.get("run_name") or named,
            user=meta.get("user_id") or tags.get("mlflow.user", ""),
            status=STATUS.get(status, "FINISHED") if isinstance(status, int) else str(status),
            began_ms=meta.get("start_time"),
            ended_ms=meta.get("end_time"),
            deleted_ms=meta.get("deleted_time"),
            is_deleted=meta.get("lifecycle_stage") == "deleted",
            artifacts=meta.get("artifact_uri") or "",
            params=_texts(folder, "params"),
            tags=tags,
            metrics=sorted(file.path for file in walk_folder(_there(folder, "metrics"))),
            inputs=self._inputs(experiment, folder),
        )

    def _inputs(self, experiment: Experiment, folder: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        datasets = os.path.join(self._folders[experiment.id], "datasets")
        for meta in _metas(os.path.join(folder, "inputs")):
            if meta["source_type"] == "MODEL":
                found.append({"direction": "in", "kind": "model", "name": meta["source_id"]})
            elif os.path.exists(os.path.join(datasets, meta["source_id"], META)):
                dataset = _read_meta(os.path.join(datasets, meta["source_id"]))
                described = {k: v for k, v in dataset.items() if v is not None}
                found.append(dataset_input(described, {k: str(v) for k, v in (meta.get("tags") or {}).items()}))
        for meta in _metas(os.path.join(folder, "outputs")):
            made = {"direction": "out", "kind": "model", "name": meta["destination_id"]}
            found.append({**made, "data": {"step": int(meta.get("step") or 0)}})
        return found


def _version(folder: str) -> Optional[Version]:
    meta = _read_meta(folder)
    if meta.get("current_stage") == "Deleted_Internal":
        return None
    return Version(
        number=int(meta["version"]),
        source=meta.get("source") or "",
        run_id=meta.get("run_id") or "",
        run_link=meta.get("run_link") or "",
        model_id=meta.get("model_id") or "",
        description=meta.get("description") or "",
        stage=meta.get("current_stage") or "None",
        user=meta.get("user_id") or "",
        created_ms=int(meta["creation_timestamp"]),
        modified_ms=meta.get("last_updated_timestamp"),
        tags=_texts(folder, "tags"),
    )


def _model_metrics(key: str, text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 4:
            yield {
                "run_id": parts[3],
                "key": key,
                "value": float(parts[1]),
                "step": int(parts[2]),
                "time_ms": int(parts[0]),
                "dataset_name": parts[4] if len(parts) > 5 else "",
                "dataset_digest": parts[5] if len(parts) > 5 else "",
            }


def _read_meta(folder: str) -> dict[str, Any]:
    import yaml

    path = os.path.join(folder, META)
    try:
        with open(path, encoding="utf-8") as f:
            meta = yaml.safe_load(f)
    except (OSError, yaml.YAMLError) as error:
        raise UserError(f"{path} cannot be read: {error}.") from error
    if not isinstance(meta, dict):
        raise UserError(f"{path} is empty or no mapping. Is MLflow writing to it just now? Import again then.")
    return meta


def _metas(folder: str) -> Iterator[dict[str, Any]]:
    for name in _subfolders(folder):
        if os.path.exists(os.path.join(folder, name, META)):
            yield _read_meta(os.path.join(folder, name))


def _texts(folder: str, kind: str) -> dict[str, str]:
    """{name: text} of the files below; a name may have slashes."""
    found = {}
    for file in walk_folder(_there(folder, kind)):
        with open(file.handle, encoding="utf-8") as f:
            found[file.path] = f.read()
    return found


def _there(folder: str, kind: str) -> str:
    path = os.path.join(folder, kind)
    return path if os.path.isdir(path) else ""


def _subfolders(folder: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return []
