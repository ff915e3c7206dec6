"""Compute targets on machines that were there before: attached, looked at, detached."""

from __future__ import annotations

import contextlib
import os
from typing import Any, NoReturn

from rookery.errors import ComputeError, ConflictError
from rookery.sdk.aml_compute_config import whole_number
from rookery.sdk.attach_configuration import EngineAttachConfiguration, RemoteComputeAttachConfiguration
from rookery.sdk.compute import compute_path, fetch_compute, target_from
from rookery.sdk.kept_compute import KeptCompute, differences, tell, wait_until
from rookery.spec.names import check_compute_name
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain

__all__ = ["ATTACH_TIMEOUT_S", "AttachedCompute", "attach_compute"]

ATTACH_TIMEOUT_S = 600.0  # the keeper starts the engine, which may need software first, and asks a node
_COMPARED = ("engine", "options", "max_nodes", "cpus_per_node", "gpus_per_node")


class AttachedCompute(KeptCompute):
    """A target on other machines. Its attributes are those of the last look; `refresh_state` looks again."""

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        super()._load(workspace, data)
        problem = data.get("problem") or ""
        self.provisioning_errors = [{"error": {"message": problem}}] if problem else None
        self.options: dict[str, Any] = dict(data["spec"]["options"])
        self.address: str = str(self.options.get("address") or ", ".join(self.options.get("addresses") or ()))

    def get_status(self) -> str:
        """The provisioning state now: Succeeded, or Failed when the machines cannot be used (`provisioning_errors`)."""
        self.refresh_state()
        return self.provisioning_state

    def wait_for_completion(
        self, show_output: bool = False, is_delete_operation: bool = False, timeout_in_minutes: float = 5
    ) -> None:
        """Return when the target can be used, cannot (which is printed), or is detached."""
        gone = "Compute target detached" if is_delete_operation else ""
        if wait_until(self, show_output, timeout_in_minutes, gone) == "gone":
            return
        tell(show_output, f'Provisioning operation finished, operation "{self.provisioning_state}"')
        for problem in self.provisioning_errors or ():
            tell(show_output, problem["error"]["message"])

    def list_nodes(self) -> list[dict[str, Any]]:
        """One entry a machine: nodeId, nodeState, privateIpAddress, runId as AmlCompute's, and what it has and runs."""
        return [
            {
                **row,
                "runs": [run["run_id"] for run in node.get("runs") or ()],
                "cpus": node.get("num_cpus"),
                "gpus": node.get("num_gpus"),
                "memoryBytes": node.get("memory_bytes"),
                "detail": node.get("detail") or "",
            }
            for row, node in self._nodes()
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
            self._change({"max_nodes": whole_number(max_nodes, "max_nodes")})

    def detach(self) -> None:
        """Forget the target; its machines are left alone. ComputeError while runs are on it."""
        self._remove()
        _remove_secrets(_state_folder(self.workspace, self.name), self.options)

    def delete(self) -> NoReturn:
        raise ComputeError(f"'{self.name}' was attached, not created, so it cannot be deleted. Use detach().")

    def serialize(self) -> dict[str, Any]:
        return self._serialized(isAttachedCompute=True, properties=self.options)

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
        differing = differences(data["spec"], wanted, _COMPARED)
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
