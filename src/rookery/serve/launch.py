"""From a revision to what starts its scoring processes: environment, variables, command."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional

from rookery import environments
from rookery.engine.payload import ensure_payload
from rookery.record import Record
from rookery.serve.asked import DEFAULTS, environment_spec
from rookery.serve.layout import lay_out, model_dir
from rookery.spec.paths import ServedPaths, WorkspacePaths
from rookery.spec.run import EnvironmentSpec

__all__ = ["choose_environment", "packages_of", "prepare"]

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# What a model needs that is deployed without code: (modules by which we know, packages that bring them).
_NEEDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "onnx": (("onnxruntime", "numpy"), ("onnxruntime", "numpy", "orjson")),
    "onnx pictures": (
        ("onnxruntime", "numpy", "PIL", "yaml"),
        ("onnxruntime", "numpy", "pillow", "pyyaml", "simplejpeg", "orjson"),
    ),
    "pytorch": (("torch", "numpy"), ("torch", "numpy", "orjson")),
    "pytorch pictures": (
        ("torch", "torchvision", "numpy", "PIL", "yaml"),
        ("torch", "torchvision", "numpy", "pillow", "pyyaml", "simplejpeg", "orjson"),
    ),
    "sklearn": (("sklearn", "joblib", "numpy"), ("scikit-learn", "joblib", "numpy", "pandas", "orjson")),
}


def prepare(
    record: Record,
    paths: WorkspacePaths,
    endpoint: str,
    version: str,
    wanted: dict[str, Any],
    log: Callable[[bytes], None],
) -> dict[str, Any]:
    """Gets everything ready that a revision needs; may take long. Safe to be called again. Returns its launch: plain data.

    Raises:
        RookeryError: it cannot be had.
    """
    what, config = wanted["what"], {**DEFAULTS, **wanted["config"]}
    spec = choose_environment(record, what)
    built = environments.prepare(spec, log, record=record)
    served = paths.served(endpoint)
    app = served.app(version, wanted["revision"])
    lay_out(record, what, app)
    payload = ensure_payload(paths)
    return {
        "argv": [built.python, "-m", "_rookery_scoring"],
        "env": _variables(endpoint, what, config, built, app, payload),
        "cwd": app,
        "log": _ready_log(served, version),
        "environment": {
            "name": spec.name,
            "python": built.python,
            "key": built.key,
            "deviations": list(built.deviations),
        },
        "payload": payload,
    }


def choose_environment(record: Record, what: dict[str, Any]) -> EnvironmentSpec:
    """The one that was asked for. For a model without code the keeper's own where it has what is needed, else one made for it."""
    inference = what["inference"]
    if inference is not None:
        given = inference["environment"]
        return environment_spec(given) if given is not None else _own("endpoint")
    model = record.models.get(what["models"][0]["name"], what["models"][0]["version"])
    names = {os.path.basename(file["path"]) for file in model["files"]}
    has_pictures = bool(names & {"model_spec.yaml", "preprocessing.json"})
    modules, packages = _NEEDS[what["no_code"] + (" pictures" if has_pictures else "")]
    pinned = _pinned(packages, what["no_code"], model.get("framework_version"))
    if pinned == list(packages) and all(importlib.util.find_spec(module) for module in modules):
        return _own(f"endpoint-{what['no_code']}")
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    conda = {"dependencies": [f"python={python}", {"pip": pinned}]}
    return replace(_own(f"endpoint-{what['no_code']}"), user_managed=False, python="", conda=conda)


def packages_of(kind: str) -> tuple[str, ...]:
    """What a model of this kind needs that is deployed without code, pictures included."""
    return _NEEDS.get(kind + " pictures", _NEEDS[kind])[1]


def _pinned(packages: tuple[str, ...], kind: str, version: Optional[str]) -> list[str]:
    """A pickle is read by the version that wrote it."""
    if kind != "sklearn" or not version:
        return list(packages)
    return [f"scikit-learn=={version}" if package == "scikit-learn" else package for package in packages]


def _own(name: str) -> EnvironmentSpec:
    return EnvironmentSpec(name=name, user_managed=True, python=sys.executable)


def _variables(
    endpoint: str,
    what: dict[str, Any],
    config: dict[str, Any],
    built: environments.BuiltEnvironment,
    app: str,
    payload: str,
) -> dict[str, str]:
    # What was set for a run that happened to start the keeper, and for the keeper itself, is nobody's business there.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("ROOKERY_", "AZUREML_", "MLFLOW_", "PYTHON"))}
    variables = {**inherited, **built.variables}
    variables["PATH"] = os.pathsep.join(p for p in (built.bin_dir, inherited.get("PATH", os.defpath)) if p)
    threads = max(1, math.ceil(config["cpu_cores"])) if config["cpu_cores"] else None
    if threads:
        variables.update({name: str(threads) for name in _THREADS})
    variables.update(config["environment_variables"])
    own_path = variables.get("PYTHONPATH", "")
    scoring: dict[str, Any] = {
        "service": endpoint,
        "max_batch": int(config["max_batch_size"]),
        "batch_wait_ms": config["batch_wait_ms"],
        "threads": threads,
    }
    inference = what["inference"]
    if inference is not None:
        entry = os.path.join(inference["source_name"], *inference["entry_script"].split("/"))
        scoring["script"] = os.path.join(app, entry)
        variables["AZUREML_ENTRY_SCRIPT"] = entry
    else:
        scoring.update(no_code=what["no_code"], model_dir=model_dir(app, what))
    variables.update(
        AML_APP_ROOT=app,
        AZUREML_MODEL_DIR=model_dir(app, what),
        SERVICE_NAME=endpoint,
        PYTHONUNBUFFERED="1",
        PYTHONPATH=os.pathsep.join(p for p in (os.path.join(payload, "first"), own_path) if p),
        ROOKERY_SCORING=json.dumps(scoring),
        ROOKERY_OFFERED=os.path.join(payload, "offered"),
        ROOKERY_ENDPOINT=endpoint,
    )
    return variables


def _ready_log(served: ServedPaths, version: str) -> str:
    os.makedirs(served.logs, mode=0o700, exist_ok=True)
    return served.log(version)
