"""ComputeInstance: v1's workstation in the cloud. Here it is one node of the keeper's machine that can be stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Optional

from rookery.errors import ComputeError, UnsupportedError
from rookery.sdk.compute import KIND_TAG, MachineConfiguration
from rookery.sdk.html import DOCS_URL
from rookery.sdk.kept_compute import KeptCompute, tell, wait_until
from rookery.spec.compute import ClusterSpec, check_cluster_spec

__all__ = ["ComputeInstance", "ComputeInstanceProvisioningConfiguration", "ComputeInstanceStatus"]


class ComputeInstanceProvisioningConfiguration(MachineConfiguration):
    """What a new instance shall be like. Networks, keys and users of the cloud are checked and then not used."""

    def __init__(
        self,
        vm_size: str = "",
        ssh_public_access: bool = False,
        admin_user_ssh_public_key: Optional[str] = None,
        vnet_resourcegroup_name: Optional[str] = None,
        vnet_name: Optional[str] = None,
        subnet_name: Optional[str] = None,
        tags: Optional[dict[str, str]] = None,
        description: Optional[str] = None,
        assigned_user_object_id: Optional[str] = None,
        assigned_user_tenant_id: Optional[str] = None,
    ) -> None:
        network = (vnet_resourcegroup_name, vnet_name, subnet_name)
        super().__init__("ComputeInstance", None, vm_size, network, tags, description)
        self.ssh_public_access = ssh_public_access
        self.admin_user_ssh_public_key = admin_user_ssh_public_key
        self.assigned_user_object_id = assigned_user_object_id
        self.assigned_user_tenant_id = assigned_user_tenant_id
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """ComputeError that names what contradicts what."""
        super().validate_configuration()
        if self.ssh_public_access and not self.admin_user_ssh_public_key:
            raise ComputeError("ssh_public_access=True needs admin_user_ssh_public_key. Give the text of a public key.")
        if bool(self.assigned_user_object_id) != bool(self.assigned_user_tenant_id):
            raise ComputeError("Give both assigned_user_object_id and assigned_user_tenant_id, or none of them.")

    def cluster_spec(self) -> ClusterSpec:
        """The same as data for the keeper: one node."""
        fields = self.cluster_fields()
        fields["tags"][KIND_TAG] = "ComputeInstance"
        return check_cluster_spec(ClusterSpec(max_nodes=1, **fields))


@dataclass
class ComputeInstanceStatus:
    """What `get_status` tells. `state` is Running, Stopped, or a state on the way."""

    creation_time: Any
    created_by_user_name: Any
    created_by_user_id: Any
    created_by_user_org: Any
    errors: Any
    modified_time: Any
    state: str
    vm_size: str

    def serialize(self) -> dict[str, Any]:
        return {
            "errors": self.errors,
            "creationTime": self.creation_time,
            "createdBy": {
                "userObjectId": self.created_by_user_id,
                "userTenantId": self.created_by_user_org,
                "userName": self.created_by_user_name,
            },
            "modifiedTime": self.modified_time,
            "state": self.state,
            "vmSize": self.vm_size,
        }

    @staticmethod
    def deserialize(object_dict: Optional[dict[str, Any]]) -> Optional[ComputeInstanceStatus]:
        if not object_dict:
            return None
        who = object_dict.get("createdBy") or {}
        return ComputeInstanceStatus(
            object_dict.get("creationTime"),
            who.get("userName"),
            who.get("userObjectId"),
            who.get("userTenantId"),
            object_dict.get("errors"),
            object_dict.get("modifiedTime"),
            str(object_dict.get("state")),
            str(object_dict.get("vmSize") or ""),
        )


class ComputeInstance(KeptCompute):
    """One node of the keeper's machine. While it is stopped, runs on it are refused."""

    _compute_type = "ComputeInstance"

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        super()._load(workspace, data)
        self.vm_size: str = data["spec"]["vm_size"]
        self.applications: list[Any] = []
        self.ssh_settings = self.subnet_id = self.assigned_user_object_id = self.assigned_user_tenant_id = None
        self.status = ComputeInstanceStatus(
            self.created_on, None, None, None, self.provisioning_errors, self.modified_on, _state(data), self.vm_size
        )

    @classmethod
    def get_docs_url(cls) -> str:
        return DOCS_URL

    @staticmethod
    def provisioning_configuration(
        vm_size: str = "",
        ssh_public_access: bool = False,
        admin_user_ssh_public_key: Optional[str] = None,
        vnet_resourcegroup_name: Optional[str] = None,
        vnet_name: Optional[str] = None,
        subnet_name: Optional[str] = None,
        tags: Optional[dict[str, str]] = None,
        description: Optional[str] = None,
        assigned_user_object_id: Optional[str] = None,
        assigned_user_tenant_id: Optional[str] = None,
    ) -> ComputeInstanceProvisioningConfiguration:
        """What `ComputeTarget.create` takes. ComputeError if it contradicts itself."""
        return ComputeInstanceProvisioningConfiguration(**locals())

    def wait_for_completion(self, show_output: bool = False, is_delete_operation: bool = False) -> None:
        """Return when the instance can be used, or is deleted."""
        gone = "Compute instance deleted" if is_delete_operation else ""
        if wait_until(self, show_output, 25, gone) == "ready":
            tell(show_output, f"{self.provisioning_state}: {self.status.state}")

    def get_status(self) -> ComputeInstanceStatus:
        """The status now."""
        self.refresh_state()
        return self.status

    def start(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """Let it take runs again."""
        self._change({"max_nodes": 1})
        self._said("started", wait_for_completion, show_output)

    def stop(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """Take no new runs. ComputeError while runs are on it."""
        running = [run.id for run in self.get_active_runs()]
        if running:
            raise ComputeError(
                f"Compute instance '{self.name}' has runs: {', '.join(running)}. Cancel them or wait, then stop it."
            )
        self._change({"max_nodes": 0})
        self._said("stopped", wait_for_completion, show_output)

    def restart(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        self.stop(wait_for_completion, show_output)
        self.start(wait_for_completion, show_output)

    def delete(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """Remove it. ComputeError while runs are on it."""
        self._remove()
        if wait_for_completion:
            self.wait_for_completion(show_output, is_delete_operation=True)

    def detach(self) -> NoReturn:
        raise ComputeError(f"'{self.name}' was created, not attached, so it cannot be detached. Use delete().")

    def update_sso_settings(self, value: Any) -> NoReturn:
        raise UnsupportedError(
            "ComputeInstance.update_sso_settings is not available in Rookery: nobody signs in to one here."
        )

    @staticmethod
    def supported_vmsizes(workspace: Any, location: Optional[str] = None) -> NoReturn:
        raise UnsupportedError(
            "ComputeInstance.supported_vmsizes is not available in Rookery: vm_size is a label here, any text will do."
        )

    def serialize(self) -> dict[str, Any]:
        return self._serialized(properties={"vmSize": self.vm_size}, status=self.status.serialize())

    def __repr__(self) -> str:
        return f"ComputeInstance(name='{self.name}', state='{self.status.state}')"

    def _said(self, done: str, wait: bool, show_output: bool) -> None:
        if wait:
            self.wait_for_completion()
        tell(show_output, f"Compute instance '{self.name}' {done}")


def _state(data: dict[str, Any]) -> str:
    state = str(data["provisioning_state"])
    if state != "Succeeded":
        return state
    return "Running" if data["spec"]["max_nodes"] else "Stopped"
