"""The variables that a rank finds. Pure: what must be looked up comes in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rookery.engine.launch_variables import launch_variables, threads_per_rank
from rookery.engine.outcome import Grant
from rookery.environments import BuiltEnvironment
from rookery.spec.compute import LOCAL
from rookery.spec.data import data_variables
from rookery.spec.job import NODE_TRACKING
from rookery.spec.paths import NodePaths
from rookery.spec.run import RunSpec

__all__ = ["Surroundings", "rank_variables"]

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Surroundings:
    """What variables tell about the workspace and its keeper."""

    workspace: Mapping[str, Any]  # workspace.json
    experiment_id: str
    keeper_url: str
    run_token: str
    token_expiry: str
    payload: str
    inherited: Mapping[str, str]  # the environment that agents inherit from the keeper
    has_gpus: bool = False  # of this machine: which of them a run may use is said by a variable
    node_gpus: bool = False  # of nodes that are other machines, whose engine says which
    checkpoints: str = ""  # kept from attempt to attempt
    node_address: str = "127.0.0.1"  # where nodes reach each other; empty: each finds its own
    one_machine: bool = True
    launch_secret: str = field(default="", repr=False)  # of the attempt; its agents show it to each other
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)  # values of the variables that the spec masks


def rank_variables(
    spec: RunSpec,
    attempt: int,
    node: int,
    rank: int,
    world_size: int,
    node_paths: NodePaths,
    socket: str,
    grant: Grant,
    built: BuiltEnvironment,
    around: Surroundings,
    local_rank: int = 0,
) -> dict[str, str]:
    """Everything that is set for one rank, ours last: a user's variable cannot break the way back to the
    agent."""
    given = {**built.variables, **spec.environment.variables, **spec.variables, **around.secrets}
    variables = dict(given)
    first = os.path.join(around.payload, "first") if around.payload else ""
    if built.container:  # an image has paths of its own, which the agent puts behind ours
        variables["PYTHONPATH"] = _join(first, given.get("PYTHONPATH", ""))
    else:
        variables["PATH"] = _join(built.bin_dir, given.get("PATH", around.inherited.get("PATH", os.defpath)))
        variables["PYTHONPATH"] = _join(first, _python_path(given, around))
    variables.setdefault("PYTHONUNBUFFERED", "1")
    threads = threads_per_rank(spec, len(grant.cpus))
    if threads:
        for name in _THREADS:
            variables.setdefault(name, str(threads))
    if around.has_gpus:
        variables.setdefault("CUDA_VISIBLE_DEVICES", ",".join(map(str, grant.gpus)))
    variables.update(_azureml(spec, node, node_paths, around))
    variables.update(data_variables(spec.inputs, spec.outputs))
    if "MLFLOW_TRACKING_URI" not in given:  # a server of the user's own stays theirs
        variables.update(_tracking(spec, around))
    variables.update(launch_variables(spec, node, rank, local_rank, world_size))
    variables.update(_rookery(spec, attempt, node, rank, world_size, node_paths, socket, around))
    return variables


def _python_path(given: Mapping[str, str], around: Surroundings) -> str:
    if "PYTHONPATH" in given:
        return given["PYTHONPATH"]
    # A keeper that was started from inside a run has an older payload on its path; it must not come before
    # ours.
    parts = around.inherited.get("PYTHONPATH", "").split(os.pathsep)
    own = os.path.dirname(around.payload) if around.payload else None
    return os.pathsep.join(p for p in parts if p and not (own and p.startswith(own + os.sep)))


def _azureml(spec: RunSpec, node: int, node_paths: NodePaths, around: Surroundings) -> dict[str, str]:
    workspace = around.workspace
    return {
        "AZUREML_RUN_ID": spec.run_id,
        "AZUREML_EXPERIMENT_ID": around.experiment_id or spec.experiment,
        "AZUREML_WORKSPACE_ID": str(workspace.get("id", "")),
        "AZUREML_ARM_SUBSCRIPTION": str(workspace.get("subscription_id", "")),
        "AZUREML_ARM_RESOURCEGROUP": str(workspace.get("resource_group", "")),
        "AZUREML_ARM_WORKSPACE_NAME": str(workspace.get("name", "")),
        "AZUREML_ARM_PROJECT_NAME": spec.experiment,
        "AZUREML_RUN_TOKEN": around.run_token,
        "AZUREML_RUN_TOKEN_EXPIRY": around.token_expiry,
        "AZUREML_SERVICE_ENDPOINT": around.keeper_url,
        "AZUREML_DISCOVERY_SERVICE_ENDPOINT": around.keeper_url,
        "AZUREML_IDENTITY_IN_USE": "AMLToken",
        "AZUREML_OUTPUT_DIRECTORY": "outputs",
        "AZUREML_LOGDIRECTORY_PATH": "logs",
        "AZUREML_TARGET_TYPE": "local" if spec.compute == LOCAL else "amlcompute",
        "AZUREML_FRAMEWORK": "Python",
        "AZUREML_COMMUNICATOR": "None",
        "AZUREML_CR_NODE_RANK": str(node),
        "AZUREML_CR_EXECUTION_WORKING_DIR_PATH": node_paths.work(spec.run_id),
    }


def _tracking(spec: RunSpec, around: Surroundings) -> dict[str, str]:
    """What makes an MLflow client inside of the run write to it: at the keeper's own address where it can simply be asked,
    else through its agent, however that reaches the keeper."""
    is_simple = around.one_machine and around.keeper_url.startswith("http:")
    return {
        "MLFLOW_TRACKING_URI": around.keeper_url if is_simple else NODE_TRACKING,
        "MLFLOW_TRACKING_TOKEN": around.run_token,
        "MLFLOW_RUN_ID": spec.run_id,
        "MLFLOW_EXPERIMENT_NAME": spec.experiment,
    }


def _rookery(
    spec: RunSpec,
    attempt: int,
    node: int,
    rank: int,
    world_size: int,
    node_paths: NodePaths,
    socket: str,
    around: Surroundings,
) -> dict[str, str]:
    paths = node_paths.rank(rank)
    return {
        "ROOKERY_RUN_ID": spec.run_id,
        "ROOKERY_EXPERIMENT": spec.experiment,
        "ROOKERY_WORKSPACE": str(around.workspace.get("name", "")),
        "ROOKERY_ATTEMPT": str(attempt),
        "ROOKERY_NODE": str(node),
        "ROOKERY_RANK": str(rank),
        "ROOKERY_WORLD_SIZE": str(world_size),
        "ROOKERY_AGENT_SOCKET": socket,
        "ROOKERY_JOURNAL_DIR": paths.journal,
        "ROOKERY_UPLOADS_DIR": paths.uploads,
        "ROOKERY_ERRORS_DIR": paths.errors,
        "ROOKERY_STOP_FILE": paths.stop,
        "ROOKERY_RESUME_DIR": around.checkpoints,
        "ROOKERY_RUN_TOKEN": around.run_token,
        "ROOKERY_PAYLOAD": around.payload,
        "ROOKERY_ATTEMPT_KEY": f"{spec.run_id}/{attempt}",
    }


def _join(first: str, rest: str) -> str:
    return os.pathsep.join(p for p in (first, rest) if p)
