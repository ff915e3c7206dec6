"""AmlCompute: a cluster with a smallest and a largest number of nodes, and a queue."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, NoReturn, Optional

from rookery.errors import ComputeError, ComputeNotFoundError, ConflictError, UnsupportedError
from rookery.sdk.aml_compute_config import AmlComputeProvisioningConfiguration, whole_number
from rookery.sdk.aml_compute_status import AmlComputeStatus, ScaleSettings, status_of
from rookery.sdk.compute import (
    ComputeTarget,
    ComputeTargetProvisioningConfiguration,
    compute_path,
    fetch_compute,
)
from rookery.spec.compute import ClusterSpec, check_cluster_spec
from rookery.spec.names import check_compute_name
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.status import ACTIVE

__all__ = ["AmlCompute", "create_cluster"]

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0
_CHANGING = ("Creating", "Updating", "Deleting")


class AmlCompute(ComputeTarget):
    """A cluster. Its attributes are those of the last look; `refresh_state` and `get_status` look again."""

    _compute_type = "AmlCompute"
    workspace: Any
    name: str
    _data: dict[str, Any]

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        spec = data["spec"]
        self.workspace = workspace
        self.name = data["name"]
        self.id = data["name"]
        self.type = self._compute_type
        self.tags: dict[str, str] = dict(spec["tags"])
        self.description: str = spec["description"]
        self.location: str = "local"
        self.provisioning_state: str = data["provisioning_state"]
        self.provisioning_errors: Optional[list[Any]] = None
        self.created_on: str = data["created_utc"]
        self.modified_on: str = data["modified_utc"]
        self.vm_size: str = spec["vm_size"]
        self.vm_priority: str = spec["vm_priority"]
        self.scale_settings = ScaleSettings(spec["min_nodes"], spec["max_nodes"], spec["idle_seconds_before_scaledown"])
        self.status: AmlComputeStatus = status_of(data)
        self._data = data

    @staticmethod
    def provisioning_configuration(
        vm_size: str = "",
        vm_priority: str = "dedicated",
        min_nodes: Any = 0,
        max_nodes: Any = None,
        idle_seconds_before_scaledown: Any = 1800,
        admin_username: Optional[str] = None,
        admin_user_password: Optional[str] = None,
        admin_user_ssh_key: Optional[str] = None,
        vnet_resourcegroup_name: Optional[str] = None,
        vnet_name: Optional[str] = None,
        subnet_name: Optional[str] = None,
        tags: Optional[dict[str, str]] = None,
        description: Optional[str] = None,
        remote_login_port_public_access: str = "NotSpecified",
        identity_type: Optional[str] = None,
        identity_id: Optional[list[str]] = None,
        location: Optional[str] = None,
        enable_node_public_ip: bool = True,
    ) -> AmlComputeProvisioningConfiguration:
        """What `ComputeTarget.create` takes. ComputeError if it contradicts itself."""
        return AmlComputeProvisioningConfiguration(
            vm_size,
            vm_priority,
            min_nodes,
            max_nodes,
            idle_seconds_before_scaledown,
            admin_username,
            admin_user_password,
            admin_user_ssh_key,
            vnet_resourcegroup_name,
            vnet_name,
            subnet_name,
            tags,
            description,
            remote_login_port_public_access,
            identity_type,
            identity_id,
            location,
            enable_node_public_ip,
        )

    def wait_for_completion(
        self,
        show_output: bool = False,
        min_node_count: Any = None,
        timeout_in_minutes: float = 25,
        is_delete_operation: bool = False,
    ) -> None:
        """Return when the cluster can be used and has `min_node_count` nodes (default: its own min_nodes),
        or is deleted."""
        wait_for_cluster(self, show_output, min_node_count, timeout_in_minutes, is_delete_operation)

    def refresh_state(self) -> None:
        """Look again."""
        self._load(self.workspace, fetch_compute(self.workspace, self.name))

    def get_status(self) -> AmlComputeStatus:
        """The status now."""
        self.refresh_state()
        return self.status

    def get(self) -> dict[str, Any]:
        """Everything the keeper tells of it, as data."""
        self.refresh_state()
        return dict(self._data)

    def list_nodes(self) -> list[dict[str, Any]]:
        """One entry a node: nodeId, nodeState, port, publicIpAddress, privateIpAddress, runId."""
        nodes = self.workspace.client.request("GET", compute_path(self.name) + "/nodes")["nodes"]
        return [
            {
                "nodeId": node["id"],
                "port": None,
                "publicIpAddress": None,
                "privateIpAddress": node["address"],
                "nodeState": node["state"],
                "runId": node["run_id"],
            }
            for node in nodes
        ]

    def update(self, min_nodes: Any = None, max_nodes: Any = None, idle_seconds_before_scaledown: Any = None) -> None:
        """Change the limits. What is None stays."""
        given = {
            "min_nodes": min_nodes,
            "max_nodes": max_nodes,
            "idle_seconds_before_scaledown": idle_seconds_before_scaledown,
        }
        changes = {name: whole_number(value, name) for name, value in given.items() if value is not None}
        self.refresh_state()
        check_cluster_spec(from_plain(ClusterSpec, {**self._data["spec"], **changes}))
        self._load(self.workspace, self.workspace.client.request("PATCH", compute_path(self.name), body=changes))

    def preempt(
        self,
        node_id: Optional[str] = None,
        grace_s: Optional[float] = None,
        away_s: Optional[float] = None,
        force: bool = False,
    ) -> dict[str, Any]:
        """Take a node of a low-priority cluster away, as a cloud would; one that runs something unless it is named. What ran on
        it goes back to the queue and resumes. Rookery's own: v1 had no such call.

        Args:
            grace_s: how long its processes have to save their work (setting preempt_grace_s).
            away_s: how long the node stays away (setting preempted_s).
            force: also from a dedicated cluster.
        """
        given = {"node": node_id, "grace_s": grace_s, "away_s": away_s, "force": force or None}
        body = {key: value for key, value in given.items() if value is not None}
        taken: dict[str, Any] = self.workspace.client.request("POST", compute_path(self.name) + "/preempt", body=body)
        return taken

    def delete(self) -> None:
        """Remove the cluster. ComputeError while runs are on it."""
        try:
            self.workspace.client.request("DELETE", compute_path(self.name))
        except ConflictError as error:
            raise ComputeError(error.message, error, error.details) from error

    def get_active_runs(
        self, type: Optional[str] = None, tags: Any = None, properties: Any = None, status: Any = None
    ) -> Iterator[Any]:
        """Its runs that have not ended, newest first."""
        from rookery.sdk.run import Run

        wanted = status if status is not None else sorted(str(s) for s in ACTIVE)
        return Run.list_by_compute(self, type=type, tags=tags, properties=properties, status=wanted)

    def detach(self) -> NoReturn:
        raise ComputeError(f"'{self.name}' was created, not attached, so it cannot be detached. Use delete().")

    def add_identity(self, identity_type: str, identity_id: Any = None) -> NoReturn:
        raise UnsupportedError(
            "AmlCompute.add_identity is not available in Rookery: targets here have no cloud identities."
        )

    def remove_identity(self, identity_id: Any = None) -> NoReturn:
        raise UnsupportedError(
            "AmlCompute.remove_identity is not available in Rookery: targets here have no cloud identities."
        )

    @staticmethod
    def supported_vmsizes(workspace: Any, location: Optional[str] = None) -> NoReturn:
        raise UnsupportedError(
            "AmlCompute.supported_vmsizes is not available in Rookery: vm_size is a label here, any text will do."
        )

    @staticmethod
    def list_usages(workspace: Any, show_all: bool = False, location: Optional[str] = None) -> NoReturn:
        raise UnsupportedError(
            "AmlCompute.list_usages is not available in Rookery: there are no quotas on machines of your own."
        )

    @staticmethod
    def list_quotas(workspace: Any, location: Optional[str] = None) -> NoReturn:
        raise UnsupportedError(
            "AmlCompute.list_quotas is not available in Rookery: there are no quotas on machines of your own."
        )

    @staticmethod
    def update_quotas(workspace: Any, vm_family: Any, limit: Any = None, location: Optional[str] = None) -> NoReturn:
        raise UnsupportedError(
            "AmlCompute.update_quotas is not available in Rookery: there are no quotas on machines of your own."
        )

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
                "properties": {
                    "vmSize": self.vm_size,
                    "vmPriority": self.vm_priority,
                    "scaleSettings": self.scale_settings.serialize(),
                },
                "status": self.status.serialize(),
            },
        }

    def __repr__(self) -> str:
        scale = self.scale_settings
        limits = f"min_nodes={scale.minimum_node_count}, max_nodes={scale.maximum_node_count}"
        now = f"nodes={self.status.current_node_count}, provisioning_state='{self.provisioning_state}'"
        return f"AmlCompute(name='{self.name}', {limits}, {now})"


def create_cluster(workspace: Any, name: str, configuration: ComputeTargetProvisioningConfiguration) -> AmlCompute:
    """Create a cluster. One that exists with the same specification is returned, so that creators may race.

    Raises:
        UserError: the name is not allowed or reserved.
        ComputeError: the configuration contradicts itself, or another cluster has the name.
    """
    checked = check_compute_name(name)
    if not isinstance(configuration, AmlComputeProvisioningConfiguration):
        raise ComputeError(
            f"provisioning_configuration is {type(configuration).__name__}. Use "
            "AmlCompute.provisioning_configuration(max_nodes=…)."
        )
    configuration.validate_configuration()
    wanted = to_plain(configuration.cluster_spec())
    try:
        data = workspace.client.request("POST", "/compute", body={"name": checked, "spec": wanted})
    except ConflictError:
        data = fetch_compute(workspace, checked)
        differing = [
            f"{k} {data['spec'].get(k)!r} (asked for {v!r})" for k, v in wanted.items() if data["spec"].get(k) != v
        ]
        if differing:
            raise ComputeError(
                f"Compute target '{checked}' exists already with {', '.join(differing)}. Change it with "
                "update(), or choose another name."
            ) from None
    target: AmlCompute = object.__new__(AmlCompute)
    target._load(workspace, data)
    return target


def wait_for_cluster(
    target: AmlCompute, show_output: bool, min_node_count: Any, timeout_in_minutes: float, is_delete: bool
) -> None:
    """The work of `wait_for_completion`: says each new state once, and at the end how it came out."""
    deadline = time.monotonic() + float(timeout_in_minutes) * 60
    pause, said = _FIRST_PAUSE_S, ""
    while True:
        try:
            target.refresh_state()
        except ComputeNotFoundError:
            if not is_delete:
                raise
            _say(show_output, "Compute target deleted")
            return
        if target.provisioning_state != said:
            said = target.provisioning_state
            _say(show_output, said)
        if not is_delete and target.provisioning_state not in _CHANGING and _has_nodes(target, min_node_count):
            break
        if time.monotonic() >= deadline:
            _say(
                show_output,
                "AmlCompute wait for completion finished\n\nWait timeout has been reached "
                f"(timeout_in_minutes={timeout_in_minutes})\n{_state(target)}",
            )
            return
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    _say(show_output, "AmlCompute wait for completion finished\n")
    if target.provisioning_state in ("Failed", "Canceled"):
        _say(show_output, _state(target))
    else:
        _say(show_output, "Minimum number of nodes requested have been provisioned")


def _has_nodes(target: AmlCompute, min_node_count: Any) -> bool:
    """Whether the nodes that can be expected are there. More than min_nodes come up only with a run, so
    nobody waits for those."""
    if target.provisioning_state in ("Failed", "Canceled"):
        return True
    least = target.scale_settings.minimum_node_count
    wanted = (
        least
        if min_node_count is None
        else min(whole_number(min_node_count, "min_node_count"), max(least, target.status.target_node_count))
    )
    return bool(target.status.current_node_count >= wanted)


def _state(target: AmlCompute) -> str:
    status = target.status
    states = f"Provisioning state: {status.provisioning_state}, allocation state: {status.allocation_state}"
    return f"{states}, nodes: {status.current_node_count} of {status.target_node_count}"


def _say(show_output: bool, text: str) -> None:
    if show_output:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
