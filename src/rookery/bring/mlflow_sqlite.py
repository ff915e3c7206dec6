"""An MLflow database in a SQLite file, read as it lies there: its own tables, from version 1.20 to 3.17 and on.

Tables and columns that came later than the file was made are told as empty.
"""

from __future__ import annotations

import os
import sqlite3
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Optional

from rookery.bring.artifact_places import folder_of, open_file, walk_folder
from rookery.bring.base import Experiment, File, LoggedModel, Registered, Run, Value, Version
from rookery.bring.mlflow_words import CONTEXT, MODEL_STATUS, finite, parents_first
from rookery.errors import UserError

__all__ = ["SqliteSource", "sqlite_path"]


def sqlite_path(text: str) -> str:
    """The file of `sqlite:///relative`, `sqlite:////absolute` or a path."""
    if text.startswith("sqlite:"):
        path = urllib.parse.unquote(text.split("?", 1)[0][len("sqlite:///") :])
        return os.path.abspath(path)
    return os.path.abspath(os.path.expanduser(text))


class SqliteSource:
    """The file is opened to be read only; a server that writes to it meanwhile is not disturbed."""

    def __init__(self, path: str, artifacts: Optional[str] = None) -> None:
        self.words = f"the MLflow database {path}"
        self._near, self._root = os.path.dirname(path), artifacts
        address = "file:" + urllib.parse.quote(path) + "?mode=ro"
        try:
            self._db = sqlite3.connect(address, uri=True, timeout=60)
            self._db.row_factory = sqlite3.Row
            rows = self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        except sqlite3.Error as error:
            raise UserError(f"{path} cannot be read as a SQLite database: {error}.") from error
        self._tables = {row["name"] for row in rows}
        if not {"experiments", "runs", "metrics"} <= self._tables:
            raise UserError(
                f"{path} is a SQLite database, but not MLflow's: it has no tables experiments, runs and metrics."
            )
        self._columns = {t: {r["name"] for r in self._db.execute(f"PRAGMA table_info({t})")} for t in self._tables}

    def close(self) -> None:
        self._db.close()

    def experiments(self) -> list[Experiment]:
        tags = self._labels("experiment_tags", "experiment_id")
        rows = self._rows("experiments", order="experiment_id")
        return [
            Experiment(
                str(row["experiment_id"]),
                row["name"],
                row.get("creation_time"),
                row["lifecycle_stage"] == "deleted",
                tags.get(str(row["experiment_id"]), {}),
            )
            for row in rows
        ]

    def count_runs(self, experiment_ids: Sequence[str]) -> int:
        query = "SELECT count(*) FROM runs WHERE experiment_id = ?"
        return sum(self._db.execute(query, (int(i),)).fetchone()[0] for i in experiment_ids)

    def runs(self, experiment: Experiment) -> Iterator[Run]:
        parents = dict(
            self._db.execute(
                "SELECT t.run_uuid, t.value FROM tags t JOIN runs r ON r.run_uuid = t.run_uuid "
                "WHERE t.key = 'mlflow.parentRunId' AND r.experiment_id = ?",
                (int(experiment.id),),
            ).fetchall()
        )
        ids = [
            row[0]
            for row in self._db.execute(
                "SELECT run_uuid FROM runs WHERE experiment_id = ? ORDER BY start_time, run_uuid", (int(experiment.id),)
            )
        ]
        for run_id in parents_first(ids, parents):
            row = self._rows("runs", "run_uuid = ?", (run_id,))[0]
            tags = self._pairs("tags", "run_uuid", run_id)
            named = tags.pop("mlflow.runName", "")
            names = "SELECT DISTINCT key FROM metrics WHERE run_uuid = ? ORDER BY key"
            yield Run(
                id=run_id,
                experiment_id=experiment.id,
                name=row.get("name") or named,
                user=row["user_id"] or tags.get("mlflow.user", ""),
                status=row["status"],
                began_ms=row["start_time"],
                ended_ms=row["end_time"],
                deleted_ms=row.get("deleted_time"),
                is_deleted=row["lifecycle_stage"] == "deleted",
                artifacts=row["artifact_uri"] or "",
                params=self._pairs("params", "run_uuid", run_id),
                tags=tags,
                metrics=[name for (name,) in self._db.execute(names, (run_id,))],
                inputs=self._inputs(run_id),
            )

    def values(self, run: Run, metric: str) -> Iterable[Value]:
        query = (
            "SELECT value, step, timestamp, is_nan FROM metrics WHERE run_uuid = ? AND key = ? "
            "ORDER BY timestamp, step, value"
        )
        for value, step, time, is_nan in self._db.execute(query, (run.id, metric)):
            yield float("nan") if is_nan else finite(value), step, time

    def logged_models(self, experiment: Experiment) -> Iterator[LoggedModel]:
        for row in self._rows("logged_models", "experiment_id = ?", (int(experiment.id),), "creation_timestamp_ms"):
            model_id = row["model_id"]
            metrics = self._rows("logged_model_metrics", "model_id = ?", (model_id,))
            yield LoggedModel(
                id=model_id,
                experiment_id=experiment.id,
                name=row["name"],
                run_id=row["source_run_id"] or "",
                type=row["model_type"] or "",
                status=MODEL_STATUS.get(row["status"], "pending"),
                created_ms=row["creation_timestamp_ms"],
                modified_ms=row["last_updated_timestamp_ms"],
                is_deleted=row["lifecycle_stage"] == "deleted",
                artifacts=row["artifact_location"],
                tags=self._pairs("logged_model_tags", "model_id", model_id, "tag_key", "tag_value"),
                params=self._pairs("logged_model_params", "model_id", model_id, "param_key", "param_value"),
                metrics=[
                    {
                        "run_id": m["run_id"],
                        "key": m["metric_name"],
                        "value": float("nan") if m["metric_value"] is None else finite(m["metric_value"]),
                        "step": m["metric_step"],
                        "time_ms": m["metric_timestamp_ms"],
                        "dataset_name": m["dataset_name"],
                        "dataset_digest": m["dataset_digest"],
                    }
                    for m in metrics
                ],
            )

    def registered(self) -> Iterator[Registered]:
        for row in self._rows("registered_models", order="name"):
            name = row["name"]
            aliases = self._rows("registered_model_aliases", "name = ?", (name,))
            yield Registered(
                name,
                row["description"] or "",
                row["creation_time"],
                row["last_updated_time"],
                self._pairs("registered_model_tags", "name", name),
                {alias["alias"]: alias["version"] for alias in aliases},
                [
                    self._version(v)
                    for v in self._rows("model_versions", "name = ?", (name,), "version")
                    if not _is_gone(v)
                ],
            )

    def files(self, of: Any) -> Iterator[File]:
        below = f"models/{of.id}" if isinstance(of, LoggedModel) else of.id
        guesses = [
            os.path.join(self._near, base, of.experiment_id, below, "artifacts") for base in ("mlruns", "mlartifacts")
        ]
        return walk_folder(folder_of(of.artifacts, self._near, self._root, guesses))

    def open(self, file: File) -> BinaryIO:
        return open_file(file)

    def _version(self, row: dict[str, Any]) -> Version:
        query = "SELECT key, value FROM model_version_tags WHERE name = ? AND version = ?"
        source = row["source"] or ""
        return Version(
            number=row["version"],
            source=source,
            run_id=row["run_id"] or "",
            run_link=row.get("run_link") or "",
            model_id=source[len("models:/") :] if source.startswith("models:/m-") else "",
            description=row["description"] or "",
            stage=row["current_stage"] or "None",
            user=row["user_id"] or "",
            created_ms=row["creation_time"],
            modified_ms=row["last_updated_time"],
            tags={k: v or "" for k, v in self._db.execute(query, (row["name"], row["version"]))}
            if "model_version_tags" in self._tables
            else {},
        )

    def _inputs(self, run_id: str) -> list[dict[str, Any]]:
        """Datasets and models that it used or made. A run is a destination of what it used and the source of what it made."""
        if "inputs" not in self._tables:
            return []
        found: list[dict[str, Any]] = []
        for row in self._rows("inputs", "destination_id = ? AND source_type = 'DATASET'", (run_id,)):
            datasets = self._rows("datasets", "dataset_uuid = ?", (row["source_id"],))
            tags = self._pairs("input_tags", "input_uuid", row["input_uuid"], "name")
            for dataset in datasets:
                described = {
                    "name": dataset["name"],
                    "digest": dataset["digest"],
                    "source_type": dataset["dataset_source_type"],
                    "source": dataset["dataset_source"],
                    "schema": dataset["dataset_schema"],
                    "profile": dataset["dataset_profile"],
                }
                found.append(dataset_input({k: v for k, v in described.items() if v is not None}, tags))
        for row in self._rows("inputs", "source_id = ? AND source_type LIKE 'RUN%'", (run_id,)):
            if row["destination_type"] == "MODEL_INPUT":
                found.append({"direction": "in", "kind": "model", "name": row["destination_id"]})
            elif row["destination_type"] == "MODEL_OUTPUT":
                made = {"direction": "out", "kind": "model", "name": row["destination_id"]}
                found.append({**made, "data": {"step": row.get("step") or 0}})
        return found

    def _rows(self, table: str, where: str = "1", values: Sequence[Any] = (), order: str = "1") -> list[dict[str, Any]]:
        if table not in self._tables:
            return []
        return [dict(row) for row in self._db.execute(f"SELECT * FROM {table} WHERE {where} ORDER BY {order}", values)]

    def _pairs(self, table: str, of: str, value: str, key: str = "key", shown: str = "value") -> dict[str, str]:
        if table not in self._tables:
            return {}
        rows = self._db.execute(f"SELECT {key}, {shown} FROM {table} WHERE {of} = ? ORDER BY {key}", (value,))
        return {row[0]: row[1] or "" for row in rows}

    def _labels(self, table: str, of: str) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for row in self._rows(table):
            found.setdefault(str(row[of]), {})[row["key"]] = row["value"] or ""
        return found


def dataset_input(dataset: dict[str, Any], tags: dict[str, str]) -> dict[str, Any]:
    """A dataset that a run was fed with, as `POST /past/runs` takes it."""
    return {
        "direction": "in",
        "kind": "dataset",
        "name": dataset["name"],
        "digest": dataset["digest"],
        "context": tags.get(CONTEXT),
        "data": {"dataset": dataset, "tags": [{"key": k, "value": v} for k, v in tags.items()]},
    }


def _is_gone(version: dict[str, Any]) -> bool:
    """MLflow keeps a deleted version's row, so that its number is not given again."""
    return version["current_stage"] == "Deleted_Internal"
