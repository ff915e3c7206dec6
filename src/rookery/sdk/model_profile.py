"""ModelProfile: how quick a model answers, and what it needs, found by asking it."""

from __future__ import annotations

import time
from typing import Any, Optional

from rookery.errors import ModelError, NotFoundError
from rookery.sdk.deploy import inference_body, model_bodies
from rookery.worker.http import quote_path

__all__ = [
    "MAX_PROFILE_CPU",
    "MAX_PROFILE_MEMORY",
    "MIN_PROFILE_CPU",
    "MIN_PROFILE_MEMORY",
    "ModelProfile",
    "profile_model",
]

MIN_PROFILE_CPU, MAX_PROFILE_CPU = 0.1, 3.5
MIN_PROFILE_MEMORY, MAX_PROFILE_MEMORY = 0.1, 15.0
_KEYS = {
    "name": "name",
    "state": "state",
    "error": "error",
    "cpu": "requestedCpu",
    "memory_in_gb": "requestedMemoryInGB",
    "max_utilized_cpu": "maxUtilizedCpu",
    "max_utilized_memory_gb": "maxUtilizedMemoryInGB",
    "latency_p50_ms": "latency50thPercentileInMs",
    "latency_p90_ms": "latency90thPercentileInMs",
    "latency_p95_ms": "latency95thPercentileInMs",
    "latency_p99_ms": "latency99thPercentileInMs",
    "latency_p999_ms": "latency999thPercentileInMs",
    "average_latency_ms": "averageLatencyInMs",
    "queries_per_second": "measuredQueriesPerSecond",
    "success_rate": "successRate",
    "created_utc": "createdTime",
}


class ModelProfile:
    """A profile by its name; ModelError where there is none. The numbers are those of the keeper's machine."""

    def __init__(self, workspace: Any, name: str, *, _data: Optional[dict[str, Any]] = None) -> None:
        self.workspace, self.name = workspace, name
        self._load(_data or self._fetch())

    def wait_for_completion(self, show_output: bool = False) -> None:
        """Return when the model has been asked everything. ModelError when it could not be."""
        pause = 0.05
        while self.state == "Running":
            time.sleep(pause)
            pause = min(pause * 1.5, 1.0)
            self._load(self._fetch())
        if show_output:
            print(self.state)
        if self.state == "Failed":
            error = self._data.get("error") or {}
            summary = error.get("summary") if isinstance(error, dict) else error
            raise ModelError(f"Profile '{self.name}' failed: {summary}", details={"error": error})

    def get_details(self) -> dict[str, Any]:
        """What was found, under v1's keys."""
        return {key: self._data.get(name) for name, key in _KEYS.items() if self._data.get(name) is not None}

    def serialize(self) -> dict[str, Any]:
        return self.get_details()

    def __repr__(self) -> str:
        return f"ModelProfile(name={self.name!r}, state={self.state!r})"

    def _fetch(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.workspace.client.request("GET", f"/model-profiles/{quote_path(self.name)}")
            return found
        except NotFoundError as error:
            raise ModelError(f"There is no profile '{self.name}'. Make one with Model.profile(…).", error) from None

    def _load(self, data: dict[str, Any]) -> None:
        self._data = data
        self.state: str = data["state"]
        self.created_time = data["created_utc"]
        self.model_ids = [f"{model['name']}:{model['version']}" for model in data["models"]]


def profile_model(
    workspace: Any,
    profile_name: str,
    models: Any,
    inference_config: Any,
    input_dataset: Any,
    cpu: Optional[float] = None,
    memory_in_gb: Optional[float] = None,
    description: Optional[str] = None,
) -> ModelProfile:
    """Ask the keeper to try a model with each row of a data set of one column; the profile, which goes on."""
    _check("cpu", cpu, MIN_PROFILE_CPU, MAX_PROFILE_CPU)
    _check("memory_in_gb", memory_in_gb, MIN_PROFILE_MEMORY, MAX_PROFILE_MEMORY)
    body = {
        "name": profile_name,
        "models": model_bodies(models),
        "inference": None if inference_config is None else inference_body(workspace, inference_config),
        "inputs": _inputs(input_dataset),
        "cpu": cpu,
        "memory_in_gb": memory_in_gb,
        "description": description or "",
    }
    return ModelProfile(workspace, profile_name, _data=workspace.client.request("POST", "/model-profiles", body=body))


def _inputs(dataset: Any) -> list[str]:
    """The bodies to send. A list of texts is taken too; that is ours."""
    if isinstance(dataset, (list, tuple)):
        return [str(text) for text in dataset]
    if not hasattr(dataset, "to_pandas_dataframe"):
        raise ModelError(
            f"input_dataset is {type(dataset).__name__}. Give a TabularDataset of one column that holds request bodies, or a "
            "list of texts."
        )
    frame = dataset.to_pandas_dataframe()
    if frame.shape[1] != 1:
        raise ModelError(
            f"input_dataset has {frame.shape[1]} columns. Give one column, with a request body in each row."
        )
    return [str(value) for value in frame.iloc[:, 0]]


def _check(name: str, value: Any, low: float, high: float) -> None:
    if value is not None and not low <= float(value) <= high:
        raise ModelError(f"{name}={value!r} is not allowed. Give a number from {low} to {high}.")
