"""AmlCompute: a cluster with a smallest and a largest number of nodes, and a queue."""

from __future__ import annotations

from typing import Any, NoReturn, Optional

from rookery.errors import ComputeError, ConflictError, UnsupportedError
from rookery.sdk.aml_compute_config import AmlComputeProvisioningConfiguration, whole_number
from rookery.sdk.aml_compute_status import AmlComputeStatus, ScaleSettings, status_of
from rookery.sdk.compute import compute_path, fetch_compute, target_from
from rookery.sdk.kept_compute import KeptCompute, differences, tell, wait_until
from rookery.spec.compute import ClusterSpec, check_cluster_spec
from rookery.spec.names import check_compute_name
from rookery.spec.plain import from_plain, to_plain

__all__ = ["AmlCompute", "create_cluster"]


class AmlCompute(KeptCompute):
    """A cluster. Its attributes are those of the last look; `refresh_state` and `get_status` look again."""

    _compute_type = "AmlCompute"

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        super()._load(workspace, data)
        spec = data["spec"]
        self.vm_size: str = spec["vm_size"]
        self.vm_priority: str = spec["vm_priority"]
        self.scale_settings = ScaleSettings(spec["min_nodes"], spec["max_nodes"], spec["idle_seconds_before_scaledown"])
        self.status: AmlComputeStatus = status_of(data)

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

    def get_status(self) -> AmlComputeStatus:
        """The status now."""
        self.refresh_state()
        return self.status

    def list_nodes(self) -> list[dict[str, Any]]:
        """One entry a node: nodeId, nodeState, port, publicIpAddress, privateIpAddress, runId."""
        return [row for row, _ in self._nodes()]

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
        self._change(changes)

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
        self._remove()

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
        sizes = {
            "vmSize": self.vm_size,
            "vmPriority": self.vm_priority,
            "scaleSettings": self.scale_settings.serialize(),
        }
        return self._serialized(properties=sizes, status=self.status.serialize())

    def __repr__(self) -> str:
        scale = self.scale_settings
        limits = f"min_nodes={scale.minimum_node_count}, max_nodes={scale.maximum_node_count}"
        now = f"nodes={self.status.current_node_count}, provisioning_state='{self.provisioning_state}'"
        return f"AmlCompute(name='{self.name}', {limits}, {now})"


def create_cluster(workspace: Any, name: str, configuration: Any) -> Any:
    """Create a pool of this machine's nodes, of the kind that the configuration is of. One that exists with the same specification is returned, so that creators may race.

    Raises:
        UserError: the name is not allowed or reserved.
        ComputeError: the configuration contradicts itself, or another cluster has the name.
    """
    checked = check_compute_name(name)
    if not hasattr(configuration, "cluster_spec"):
        raise ComputeError(
            f"provisioning_configuration is {type(configuration).__name__}. Use "
            "AmlCompute.provisioning_configuration(max_nodes=…) or ComputeInstance.provisioning_configuration()."
        )
    configuration.validate_configuration()
    wanted = to_plain(configuration.cluster_spec())
    try:
        data = workspace.client.request("POST", "/compute", body={"name": checked, "spec": wanted})
    except ConflictError:
        data = fetch_compute(workspace, checked)
        differing = differences(data["spec"], wanted, wanted)
        if differing:
            raise ComputeError(
                f"Compute target '{checked}' exists already with {', '.join(differing)}. Change it with "
                "update(), or choose another name."
            ) from None
    return target_from(workspace, data)


def wait_for_cluster(
    target: AmlCompute, show_output: bool, min_node_count: Any, timeout_in_minutes: float, is_delete: bool
) -> None:
    """The work of `wait_for_completion`: says each new state once, and at the end how it came out."""
    gone = "Compute target deleted" if is_delete else ""
    how = wait_until(target, show_output, timeout_in_minutes, gone, lambda: _has_nodes(target, min_node_count))
    if how == "timeout":
        tell(
            show_output,
            "AmlCompute wait for completion finished\n\nWait timeout has been reached "
            f"(timeout_in_minutes={timeout_in_minutes})\n{_state(target)}",
        )
    if how != "ready":
        return
    tell(show_output, "AmlCompute wait for completion finished\n")
    if target.provisioning_state in ("Failed", "Canceled"):
        tell(show_output, _state(target))
    else:
        tell(show_output, "Minimum number of nodes requested have been provisioned")


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
