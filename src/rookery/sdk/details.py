"""`run.get_details()`: what the keeper knows about a run, under v1's keys and in their order."""

from __future__ import annotations

from typing import Any, Optional

from rookery.spec.cause import Cause, format_cause
from rookery.spec.plain import from_plain
from rookery.spec.run import RunKind

__all__ = ["build_details", "describe_error", "explain_error", "run_definition"]

_MECHANISMS = {"mount": "Mount", "download": "Download", "direct": "Direct", "upload": "Upload"}


def build_details(
    data: dict[str, Any], log_files: dict[str, str], rows: Optional[list[dict[str, Any]]] = None
) -> dict[str, Any]:
    """The details of a run, from the keeper's JSON for it, its logs (name → URL, or → text) and its data (GET …/data)."""
    details: dict[str, Any] = {
        "runId": data["id"],
        "target": data["target"] or data["compute"],
        "status": data["status"],
    }
    if data["started_utc"]:
        details["startTimeUtc"] = data["started_utc"]
    if data["ended_utc"]:
        details["endTimeUtc"] = data["ended_utc"]
    details["properties"] = dict(data["properties"])
    details["inputDatasets"] = _data_details(rows or [], "in")
    details["outputDatasets"] = _data_details(rows or [], "out")
    if data["kind"] == RunKind.SCRIPT:
        details["runDefinition"] = run_definition(data["spec"])
    details["logFiles"] = dict(log_files)
    details["submittedBy"] = data["submitted_by"]
    if data.get("attempts"):
        details["attempts"] = data["attempts"]
    if data["error"]:
        details["error"] = describe_error(data["error"])
    if data["warnings"]:
        details["warnings"] = [{"source": "rookery", "message": text} for text in data["warnings"]]
    return details


def _data_details(rows: list[dict[str, Any]], direction: str) -> list[dict[str, Any]]:
    """`inputDatasets` or `outputDatasets` of get_details; `fingerprint`, `files` and `bytes` are ours."""
    key, name = ("consumptionDetails", "inputName") if direction == "in" else ("outputDetails", "outputName")
    kind = "RunInput" if direction == "in" else "RunOutput"
    return [
        {
            "dataset": {
                "id": row["definition_id"],
                "name": row["data_name"] or None,
                "version": row["data_version"],
                "fingerprint": row["fingerprint"],
                "files": row["files"],
                "bytes": row["bytes"],
            },
            key: {"type": kind, name: row["name"], "mechanism": _MECHANISMS.get(row["mode"], row["mode"])},
        }
        for row in rows
        if row["direction"] == direction
    ]


def describe_error(error: dict[str, Any]) -> dict[str, Any]:
    """v1's error object around a Cause: the whole block as its message, the cause itself for programs."""
    return {
        "error": {"code": error.get("kind", "UserError"), "message": explain_error(error), "details": []},
        "cause": error,
    }


def explain_error(error: Optional[dict[str, Any]]) -> str:
    """One block for people. What a newer keeper adds to a Cause does not break an older SDK."""
    if not error:
        return "The run failed; no cause was recorded."
    known = {name: error[name] for name in Cause.__dataclass_fields__ if name in error}
    return format_cause(from_plain(Cause, {"kind": "UserError", "summary": "The run failed.", **known}))


def run_definition(spec: dict[str, Any]) -> dict[str, Any]:
    """A RunSpec under the names of v1's serialized run configuration (camelCase)."""
    framework, communicator = _framework(spec)
    return {
        "script": spec["script"],
        "command": spec["command"] or "",
        "useAbsolutePath": False,
        "arguments": list(spec["arguments"]),
        "sourceDirectoryDataStore": None,
        "framework": framework,
        "communicator": communicator,
        "target": spec["compute"],
        "dataReferences": {},
        "data": {},
        "outputData": {},
        "datacaches": [],
        "jobName": None,
        "maxRunDurationSeconds": spec["max_duration_s"],
        "nodeCount": spec["node_count"],
        "instanceTypes": [],
        "priority": None,
        "credentialPassthrough": False,
        "identity": None,
        "environment": _environment(spec["environment"]),
        "history": {
            "outputCollection": spec["collect_outputs"],
            "directoriesToWatch": list(spec["watch_folders"]),
            "snapshotProject": bool(spec["snapshot_id"]),
        },
        "environmentVariables": dict(spec["variables"]),
        "docker": (spec["environment"]["docker"] or {}).get("runtime", {"useDocker": False}),
        **_distribution(spec),
    }


def _framework(spec: dict[str, Any]) -> tuple[str, str]:
    launcher, options = spec["launcher"], spec["launcher_options"]
    if "backend" in options:
        return "PyTorch", str(options["backend"]).capitalize()
    if launcher == "mpi":
        return "Python", "IntelMpi"
    if launcher == "tensorflow":
        return "TensorFlow", "ParameterServer"
    return "Python", "None"


def _distribution(spec: dict[str, Any]) -> dict[str, Any]:
    options, nodes, per_node = spec["launcher_options"], spec["node_count"], spec["processes_per_node"]
    is_mpi, is_pytorch = spec["launcher"] == "mpi", "backend" in options
    return {
        "mpi": {"processCountPerNode": per_node if is_mpi else 1, "nodeCount": nodes if is_mpi else 1},
        "pyTorch": {
            "communicationBackend": options.get("backend", "nccl"),
            "processCount": nodes * per_node if is_pytorch else None,
            "nodeCount": nodes if is_pytorch else 1,
        },
        "tensorflow": {
            "workerCount": options.get("worker_count", 1),
            "parameterServerCount": options.get("parameter_server_count", 1),
        },
    }


def _environment(environment: dict[str, Any]) -> dict[str, Any]:
    docker = environment["docker"] or {}
    return {
        "name": environment["name"],
        "version": environment["version"],
        "python": {
            "interpreterPath": environment["python"] or "python",
            "userManagedDependencies": environment["user_managed"],
            "condaDependencies": environment["conda"],
        },
        "environmentVariables": dict(environment["variables"]),
        "docker": {key: value for key, value in docker.items() if key != "runtime"},
    }
