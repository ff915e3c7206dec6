"""An MLflow tracking server, read over its REST API."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Optional

from rookery.bring.artifact_places import PROXY
from rookery.bring.base import Experiment, File, LoggedModel, Registered, Run, Value, Version
from rookery.bring.mlflow_http import MlflowHttp
from rookery.bring.mlflow_sqlite import dataset_input
from rookery.bring.mlflow_words import MODEL_STATUS, finite, parents_first
from rookery.errors import NotFoundError

__all__ = ["ServerSource"]

PAGE = 1000
HISTORY_PAGE = 25_000


class ServerSource:
    def __init__(self, url: str, token: Optional[str], username: Optional[str], password: Optional[str]) -> None:
        self._http = MlflowHttp(url, token, username, password)
        self.words = f"the MLflow server {self._http.shown}"
        self._runs: dict[str, list[Run]] = {}

    def close(self) -> None:
        pass

    def experiments(self) -> list[Experiment]:
        found = self._pages("POST", "experiments/search", {"max_results": PAGE, "view_type": "ALL"}, "experiments")
        shown = [
            Experiment(
                str(e["experiment_id"]),
                e["name"],
                _int(e.get("creation_time")),
                e.get("lifecycle_stage") == "deleted",
                _pairs(e.get("tags")),
            )
            for e in found
        ]
        return sorted(shown, key=lambda e: (e.created_ms or 0, e.id))

    def count_runs(self, experiment_ids: Sequence[str]) -> int:
        return sum(len(self._listed(i)) for i in experiment_ids)

    def runs(self, experiment: Experiment) -> Iterator[Run]:
        runs = {run.id: run for run in self._listed(experiment.id)}
        parents = {run.id: run.tags.get("mlflow.parentRunId", "") for run in runs.values()}
        ids = sorted(runs, key=lambda i: (runs[i].began_ms or 0, i))
        for run_id in parents_first(ids, parents):
            # A search leaves out what a run has made.
            yield _run(self._http.json("GET", "runs/get", {"run_id": run_id, "run_uuid": run_id})["run"])

    def values(self, run: Run, metric: str) -> Iterable[Value]:
        query = {"run_id": run.id, "run_uuid": run.id, "metric_key": metric, "max_results": HISTORY_PAGE}
        for m in self._pages("GET", "metrics/get-history", query, "metrics"):
            yield finite(float(m["value"])), int(m.get("step") or 0), int(m["timestamp"])

    def logged_models(self, experiment: Experiment) -> Iterator[LoggedModel]:
        body = {"experiment_ids": [experiment.id], "max_results": 50}
        try:
            found = list(self._pages("POST", "logged-models/search", body, "models"))
        except NotFoundError:
            return  # a server of before 3.0
        for model in sorted(found, key=lambda m: (int(m["info"]["creation_timestamp_ms"]), m["info"]["model_id"])):
            info, data = model["info"], model.get("data") or {}
            yield LoggedModel(
                id=info["model_id"],
                experiment_id=experiment.id,
                name=info["name"],
                run_id=info.get("source_run_id") or "",
                type=info.get("model_type") or "",
                status=MODEL_STATUS.get(info.get("status"), "pending"),
                created_ms=int(info["creation_timestamp_ms"]),
                modified_ms=int(info["last_updated_timestamp_ms"]),
                artifacts=info.get("artifact_uri") or "",
                tags=_pairs(info.get("tags")),
                params=_pairs(data.get("params")),
                metrics=[
                    {
                        "run_id": m.get("run_id"),
                        "key": m["key"],
                        "value": finite(float(m["value"])),
                        "step": int(m.get("step") or 0),
                        "time_ms": int(m["timestamp"]),
                        "dataset_name": m.get("dataset_name"),
                        "dataset_digest": m.get("dataset_digest"),
                    }
                    for m in data.get("metrics") or []
                ],
            )

    def registered(self) -> Iterator[Registered]:
        for model in self._pages("GET", "registered-models/search", {"max_results": 100}, "registered_models"):
            name = model["name"]
            quoted = name.replace("'", "\\'")
            query = {"filter": f"name='{quoted}'", "max_results": PAGE}
            versions = self._pages("GET", "model-versions/search", query, "model_versions")
            # A search leaves aliases out.
            whole = self._http.json("GET", "registered-models/get", {"name": name})["registered_model"]
            yield Registered(
                name,
                whole.get("description") or "",
                _int(whole.get("creation_timestamp")),
                _int(whole.get("last_updated_timestamp")),
                _pairs(whole.get("tags")),
                {a["alias"]: int(a["version"]) for a in whole.get("aliases") or []},
                sorted((_version(v) for v in versions), key=lambda v: v.number),
            )

    def files(self, of: Any) -> Iterator[File]:
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for found in self._listing(of, folder):
                path = found["path"]
                if found.get("is_dir"):
                    waiting.append(path)
                else:
                    yield File(path, _int(found.get("file_size")), self._address(of, path))

    def open(self, file: File) -> BinaryIO:
        path, query = file.handle
        return self._http.stream(path, query)

    def _listing(self, of: Any, folder: str) -> Iterator[dict[str, Any]]:
        try:
            if isinstance(of, LoggedModel):
                query = {"artifact_directory_path": folder} if folder else {}
                yield from self._pages("GET", f"logged-models/{of.id}/artifacts/directories", query, "files")
            else:
                query = {"run_id": of.id, "run_uuid": of.id, **({"path": folder} if folder else {})}
                yield from self._pages("GET", "artifacts/list", query, "files")
        except NotFoundError:
            return

    def _address(self, of: Any, path: str) -> tuple[str, dict[str, str]]:
        """Where the bytes are had: through the proxy, else where MLflow's own pages get them."""
        if of.artifacts.startswith(PROXY):
            root = urllib.parse.urlsplit(of.artifacts).path.strip("/")
            return "/api/2.0/mlflow-artifacts/artifacts/" + urllib.parse.quote(f"{root}/{path}"), {}
        if isinstance(of, LoggedModel):
            return f"/ajax-api/2.0/mlflow/logged-models/{of.id}/artifacts/files", {"artifact_file_path": path}
        return "/get-artifact", {"path": path, "run_uuid": of.id}

    def _listed(self, experiment_id: str) -> list[Run]:
        """Read once: a search of all runs is what this API has to count them."""
        if experiment_id not in self._runs:
            body = {"experiment_ids": [experiment_id], "max_results": PAGE, "run_view_type": "ALL"}
            self._runs[experiment_id] = [_run(r) for r in self._pages("POST", "runs/search", body, "runs")]
        return self._runs[experiment_id]

    def _pages(self, method: str, path: str, arguments: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
        token = ""
        while True:
            answer = self._http.json(method, path, {**arguments, **({"page_token": token} if token else {})})
            yield from answer.get(key) or []
            token = answer.get("next_page_token") or ""
            if not token:
                return


def _run(given: dict[str, Any]) -> Run:
    info, data = given["info"], given.get("data") or {}
    tags = _pairs(data.get("tags"))
    named = tags.pop("mlflow.runName", "")
    inputs = given.get("inputs") or {}
    outputs = given.get("outputs") or {}
    return Run(
        id=info.get("run_id") or info["run_uuid"],
        experiment_id=str(info["experiment_id"]),
        name=info.get("run_name") or named,
        user=info.get("user_id") or tags.get("mlflow.user", ""),
        status=info.get("status") or "RUNNING",
        began_ms=_int(info.get("start_time")),
        ended_ms=_int(info.get("end_time")),
        is_deleted=info.get("lifecycle_stage") == "deleted",
        artifacts=info.get("artifact_uri") or "",
        params=_pairs(data.get("params")),
        tags=tags,
        metrics=sorted({m["key"] for m in data.get("metrics") or []}),
        inputs=[
            *(dataset_input(d["dataset"], _pairs(d.get("tags"))) for d in inputs.get("dataset_inputs") or []),
            *({"direction": "in", "kind": "model", "name": m["model_id"]} for m in inputs.get("model_inputs") or []),
            *(
                {"direction": "out", "kind": "model", "name": m["model_id"], "data": {"step": int(m.get("step") or 0)}}
                for m in outputs.get("model_outputs") or []
            ),
        ],
    )


def _version(v: dict[str, Any]) -> Version:
    source = v.get("source") or ""
    return Version(
        number=int(v["version"]),
        source=source,
        run_id=v.get("run_id") or "",
        run_link=v.get("run_link") or "",
        model_id=v.get("model_id") or (source[len("models:/") :] if source.startswith("models:/m-") else ""),
        description=v.get("description") or "",
        stage=v.get("current_stage") or "None",
        user=v.get("user_id") or "",
        created_ms=int(v["creation_timestamp"]),
        modified_ms=_int(v.get("last_updated_timestamp")),
        tags=_pairs(v.get("tags")),
    )


def _pairs(pairs: Any) -> dict[str, str]:
    return {pair["key"]: pair.get("value") or "" for pair in pairs or []}


def _int(value: Any) -> Optional[int]:
    return None if value in (None, "") else int(value)
