"""Compute targets on machines that were there before: attached, looked at, detached."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any, NoReturn, Optional

from rookery.errors import ComputeError, ComputeNotFoundError, ConflictError
from rookery.sdk.aml_compute_config import whole_number
from rookery.sdk.attach_configuration import EngineAttachConfiguration, RemoteComputeAttachConfiguration
from rookery.sdk.compute import ComputeTarget, compute_path, fetch_compute, target_from
from rookery.spec.names import check_compute_name
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain
from rookery.spec.status import ACTIVE

__all__ = ["ATTACH_TIMEOUT_S", "AttachedCompute", "attach_compute"]

ATTACH_TIMEOUT_S = 600.0  # the keeper starts the engine, which may need software first, and asks a node
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0
_CHANGING = ("Creating", "Updating", "Deleting")


class AttachedCompute(ComputeTarget):
    """A target on other machines. Its attributes are those of the last look; `refresh_state` looks again."""

    workspace: Any
    name: str
    _data: dict[str, Any]

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        spec = data["spec"]
        self.workspace = workspace
        self.name = self.id = data["name"]
        self.type = self._compute_type
        self.tags: dict[str, str] = dict(spec["tags"])
        self.description: str = spec["description"]
        self.location: str = "local"
        self.provisioning_state: str = data["provisioning_state"]
        problem = data.get("problem") or ""
        self.provisioning_errors: Optional[list[Any]] = [{"error": {"message": problem}}] if problem else None
        self.created_on: str = data["created_utc"]
        self.modified_on: str = data["modified_utc"]
        self.options: dict[str, Any] = dict(spec["options"])
        self.address: str = str(self.options.get("address") or ", ".join(self.options.get("addresses") or ()))
        self._data = data

    def refresh_state(self) -> None:
        """Look again."""
        self._load(self.workspace, fetch_compute(self.workspace, self.name))

    def get_status(self) -> str:
        """The provisioning state now: Succeeded, or Failed when the machines cannot be used (`provisioning_errors`)."""
        self.refresh_state()
        return self.provisioning_state

    def get(self) -> dict[str, Any]:
        """Everything the keeper tells of it, as data."""
        self.refresh_state()
        return dict(self._data)

    def wait_for_completion(
        self, show_output: bool = False, is_delete_operation: bool = False, timeout_in_minutes: float = 5
    ) -> None:
        """Return when the target can be used, cannot (which is printed), or is detached."""
        deadline = time.monotonic() + float(timeout_in_minutes) * 60
        pause, said = _FIRST_PAUSE_S, ""
        while True:
            try:
                self.refresh_state()
            except ComputeNotFoundError:
                if not is_delete_operation:
                    raise
                _say(show_output, "Compute target detached")
                return
            if self.provisioning_state != said:
                said = self.provisioning_state
                _say(show_output, said)
            if (not is_delete_operation and said not in _CHANGING) or time.monotonic() >= deadline:
                break
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
        _say(show_output, f'Provisioning operation finished, operation "{said}"')
        for problem in self.provisioning_errors or ():
            _say(show_output, problem["error"]["message"])

    def list_nodes(self) -> list[dict[str, Any]]:
        """One entry a machine: nodeId, nodeState, privateIpAddress, runId as AmlCompute's, and what it has and runs."""
        nodes = self.workspace.client.request("GET", compute_path(self.name) + "/nodes")["nodes"]
        return [
            {
                "nodeId": node["id"],
                "port": None,
                "publicIpAddress": None,
                "privateIpAddress": node["address"],
                "nodeState": node["state"],
                "runId": node["run_id"],
                "runs": [run["run_id"] for run in node.get("runs") or ()],
                "cpus": node.get("num_cpus"),
                "gpus": node.get("num_gpus"),
                "memoryBytes": node.get("memory_bytes"),
                "detail": node.get("detail") or "",
            }
            for node in nodes
        ]

    def check(self) -> list[dict[str, Any]]:
        """Try the target from end to end, from one of its nodes; what was found: check, ok, words, advice."""
        path = compute_path(self.name) + "/check"
        answer = self.workspace.client.request("POST", path, body={}, timeout_s=ATTACH_TIMEOUT_S)
        checks: list[dict[str, Any]] = answer["checks"]
        return checks

    def update(self, max_nodes: Any = None) -> None:
        """Change the number of nodes at most; 0 is as many as there are."""
        if max_nodes is not None:
            changes = {"max_nodes": whole_number(max_nodes, "max_nodes")}
            self._load(self.workspace, self.workspace.client.request("PATCH", compute_path(self.name), body=changes))

    def get_active_runs(
        self, type: Optional[str] = None, tags: Any = None, properties: Any = None, status: Any = None
    ) -> Iterator[Any]:
        """Its runs that have not ended, newest first."""
        from rookery.sdk.run import Run

        wanted = status if status is not None else sorted(str(s) for s in ACTIVE)
        return Run.list_by_compute(self, type=type, tags=tags, properties=properties, status=wanted)

    def detach(self) -> None:
        """Forget the target; its machines are left alone. ComputeError while runs are on it."""
        try:
            self.workspace.client.request("DELETE", compute_path(self.name))
        except ConflictError as error:
            raise ComputeError(error.message, error, error.details) from error
        _remove_secrets(_state_folder(self.workspace, self.name), self.options)

    def delete(self) -> NoReturn:
        raise ComputeError(f"'{self.name}' was attached, not created, so it cannot be deleted. Use detach().")

    def serialize(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "tags": self.tags,
            "location": self.location,
            "properties": {
                "description": self.description,
                "computeType": self.type,
                "provisioningState": self.provisioning_state,
                "provisioningErrors": self.provisioning_errors,
                "isAttachedCompute": True,
                "properties": self.options,
            },
        }

    def __repr__(self) -> str:
        return f"{self.type}(name='{self.name}', provisioning_state='{self.provisioning_state}')"


def attach_compute(workspace: Any, name: str, configuration: Any) -> Any:
    """Attach machines under a name. One that is attached already with the same options is returned.

    Raises:
        UserError: the name is not allowed or reserved.
        ComputeError: the configuration contradicts itself, or another target has the name.
    """
    checked = check_compute_name(name)
    if not isinstance(configuration, EngineAttachConfiguration):
        raise ComputeError(
            f"attach_configuration is {type(configuration).__name__}. Use RemoteCompute.attach_configuration(…), "
            "RayCompute.attach_configuration(…) or SlurmCompute.attach_configuration(…)."
        )
    folder = _state_folder(workspace, checked)
    if isinstance(configuration, RemoteComputeAttachConfiguration):
        configuration.keep_secrets(folder)
    wanted = to_plain(configuration.cluster_spec())
    try:
        body = {"name": checked, "spec": wanted}
        data = workspace.client.request("POST", "/compute", body=body, timeout_s=ATTACH_TIMEOUT_S)
    except ConflictError:
        data = fetch_compute(workspace, checked)
        there = data["spec"]
        differing = [
            f"{key} {there.get(key)!r} (asked for {wanted[key]!r})"
            for key in ("engine", "options", "max_nodes", "cpus_per_node", "gpus_per_node")
            if there.get(key) != wanted[key]
        ]
        if differing:
            raise ComputeError(
                f"Compute target '{checked}' exists already with {', '.join(differing)}. Detach it first, or choose "
                "another name."
            ) from None
    except BaseException:
        _remove_secrets(folder, configuration.options)
        raise
    return target_from(workspace, data)


def _state_folder(workspace: Any, name: str) -> str:
    return WorkspacePaths(workspace.root).engine_state(name) if workspace.root else ""


def _remove_secrets(folder: str, options: dict[str, Any]) -> None:
    """Those that were kept for a target; files of the user's own are left alone."""
    for option in ("password_file", "passphrase_file"):
        path = str(options.get(option) or "")
        if folder and os.path.dirname(path) == folder:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _say(show_output: bool, text: str) -> None:
    if show_output:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
