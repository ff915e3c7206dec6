"""What somebody asks for, checked and complete: names, configurations, models and code of a version."""

from __future__ import annotations

import re
from typing import Any, Optional

from rookery import environments
from rookery.errors import EndpointError, UnsupportedError, UserError
from rookery.record import Record
from rookery.serve.host.models import find_kind
from rookery.spec.names import check_artifact_name
from rookery.spec.plain import from_plain
from rookery.spec.run import EnvironmentSpec

__all__ = [
    "DEFAULTS",
    "KINDS",
    "autoscale_of",
    "check_config",
    "check_name",
    "check_port",
    "check_traffic",
    "check_what",
]

KINDS = ("local", "aci", "aks")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")
NO_CODE = {"onnx": "onnx", "pytorch": "pytorch", "scikitlearn": "sklearn"}  # v1's frameworks, in lower case

DEFAULTS: dict[str, Any] = {
    "num_replicas": 1,
    "cpu_cores": None,
    "memory_gb": None,
    "scoring_timeout_ms": 60000,
    "max_request_wait_ms": 60000,
    "max_queue": 1000,
    "max_batch_size": 16,
    "batch_wait_ms": 2,
    "max_body_mb": 100,
    "startup_timeout_s": 600,
    "environment_variables": {},
}
# Smallest and largest of what is a number.
BOUNDS = {
    "num_replicas": (1, 32),
    "cpu_cores": (0.01, 1024),
    "memory_gb": (0.01, 65536),
    "scoring_timeout_ms": (1, 86_400_000),
    "max_request_wait_ms": (1, 86_400_000),
    "max_queue": (1, 100_000),
    "max_batch_size": (1, 1024),
    "batch_wait_ms": (0, 10_000),
    "max_body_mb": (1, 2048),
    "startup_timeout_s": (1, 86_400),
    "memory_gb_limit": (0.01, 65536),
    "autoscale_min_replicas": (1, 32),
    "autoscale_max_replicas": (1, 32),
    "autoscale_target_utilization": (1, 100),
    "autoscale_refresh_seconds": (1, 3600),
}
# v1's, for those that are left out.
AUTOSCALE = {"min": 1, "max": 10, "target": 70, "refresh": 1}


def check_name(name: object, what: str = "endpoint") -> str:
    if not isinstance(name, str) or not NAME.match(name):
        raise EndpointError(
            f"{name!r:.80} is no name of an {what}: letters, digits, '-', '.' and '_', beginning with a letter or digit, at most 63."
        )
    return name


def check_config(given: Optional[dict[str, Any]], before: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """The whole configuration: what is given over what was there; null takes a key away."""
    merged = {**(before or {}), **(given or {})}
    config = {key: value for key, value in merged.items() if value is not None}
    for key, (low, high) in BOUNDS.items():
        value = config.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise EndpointError(f"{key} is {value!r:.40}; it must be a number from {low} to {high}.")
    whole = ("num_replicas", "max_queue", "max_batch_size", "autoscale_min_replicas", "autoscale_max_replicas")
    for key in whole:
        if key in config and config[key] != int(config[key]):
            raise EndpointError(f"{key} is {config[key]!r}; it must be a whole number.")
    scale = autoscale_of(config)
    if scale and scale["min"] > scale["max"]:
        raise EndpointError(
            f"autoscale_min_replicas is {scale['min']} and autoscale_max_replicas {scale['max']}; the first must not be the larger one."
        )
    variables = config.get("environment_variables") or {}
    if not isinstance(variables, dict) or not all(
        isinstance(k, str) and k and "=" not in k and "\0" not in k and isinstance(v, str) and "\0" not in v
        for k, v in variables.items()
    ):
        raise EndpointError("environment_variables must be an object of names and texts.")
    return config


def autoscale_of(config: dict[str, Any]) -> Optional[dict[str, Any]]:
    """{"min", "max", "share", "refresh_s"} of v1's options; None: as many processes as `num_replicas` says, always."""
    if not config.get("autoscale_enabled"):
        return None
    low = int(config.get("autoscale_min_replicas") or AUTOSCALE["min"])
    high = int(config.get("autoscale_max_replicas") or max(low, AUTOSCALE["max"]))
    share = float(config.get("autoscale_target_utilization") or AUTOSCALE["target"]) / 100
    return {
        "min": low,
        "max": high,
        "share": share,
        "refresh_s": float(config.get("autoscale_refresh_seconds") or AUTOSCALE["refresh"]),
    }


def check_port(port: Optional[int]) -> Optional[int]:
    if port is not None and (isinstance(port, bool) or not 1 <= port <= 65535):
        raise EndpointError(f"port is {port!r}; it must be from 1 to 65535, or left out.")
    return port


def check_traffic(traffic: float) -> float:
    if not 0 <= traffic <= 100:
        raise EndpointError(f"traffic is {traffic!r}; it is in percent, from 0 to 100.")
    return float(traffic)


def check_what(
    record: Record, models: Optional[list[dict[str, Any]]], inference: Optional[dict[str, Any]]
) -> dict[str, Any]:
    """{"models", "inference", "no_code"}: models exist, the code is there, its environment can be had.

    Raises:
        EndpointError, ModelNotFoundError, UserError, UnsupportedError: what is wrong, and what is allowed.
    """
    found = [_model(record, one) for one in models or []]
    names = [{"name": one["name"], "version": one["version"]} for one in found]
    if len({(one["name"], one["version"]) for one in names}) != len(names):
        raise EndpointError("A model is there twice.")
    if inference is not None:
        return {"models": names, "inference": _inference(record, inference), "no_code": None}
    if len(found) != 1:
        raise EndpointError(
            f"{len(found)} models and no entry script: without code exactly one model is deployed. Give an InferenceConfig."
        )
    return {"models": names, "inference": None, "no_code": _no_code(found[0])}


def _model(record: Record, one: Any) -> dict[str, Any]:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        raise EndpointError('A model is an object like {"name": "birds", "version": 3}.')
    version = one.get("version")
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        raise EndpointError(f"The version of model '{one['name']:.80}' is {version!r:.40}; it is a whole number.")
    return record.models.get(one["name"], version)


def _inference(record: Record, given: dict[str, Any]) -> dict[str, Any]:
    known = {"entry_script", "source_name", "snapshot_id", "environment"}
    strange = sorted(set(given) - known)
    if strange:
        raise EndpointError(f"inference has {', '.join(map(repr, strange))}; it has {', '.join(sorted(known))}.")
    script = given.get("entry_script")
    if not isinstance(script, str) or not script.endswith(".py"):
        raise EndpointError(f"entry_script is {script!r:.80}; it is the path of a Python file in the source folder.")
    script = check_artifact_name(script)
    source = given.get("source_name") or ""
    if source and ("/" in check_artifact_name(source) or source in (".", "azureml-models")):
        raise EndpointError(f"source_name is {source!r:.80}; it is the name of one folder.")
    if not isinstance(given.get("snapshot_id"), str):
        raise EndpointError("inference lacks snapshot_id: the source folder, stored as for runs.")
    paths = {entry["path"] for entry in record.snapshots.entries(given["snapshot_id"])}
    if script not in paths:
        near = ", ".join(sorted(path for path in paths if path.endswith(".py"))[:10]) or "no Python file"
        raise EndpointError(f"The source folder has no '{script}'. It has {near}.")
    environment = given.get("environment")
    if environment is not None:
        environments.check(environment_spec(environment))
    return {
        "entry_script": script,
        "source_name": source,
        "snapshot_id": given["snapshot_id"],
        "environment": environment,
    }


def environment_spec(plain: dict[str, Any]) -> EnvironmentSpec:
    """As an endpoint uses it: on this machine, without the image that the original built."""
    try:
        return from_plain(EnvironmentSpec, {**plain, "docker": None})
    except (TypeError, ValueError, KeyError) as error:
        raise UserError(f"inference.environment is no specification of an environment: {error}.") from error


def _no_code(model: dict[str, Any]) -> str:
    framework = str(model.get("framework") or "").lower()
    kind = NO_CODE.get(framework) or find_kind([file["path"] for file in model["files"]])
    if kind is None or (framework and framework not in NO_CODE and framework != "custom"):
        raise UnsupportedError(
            f"Model {model['id']} ({model.get('framework') or 'no framework'}) cannot be deployed without an entry script: Onnx, "
            "PyTorch and ScikitLearn can. Give an InferenceConfig."
        )
    return kind
