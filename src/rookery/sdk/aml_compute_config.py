"""What a new cluster shall be like, checked: AmlCompute.provisioning_configuration."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import ComputeError
from rookery.sdk.aml_compute_status import ScaleSettings
from rookery.sdk.compute import MachineConfiguration
from rookery.spec.compute import ClusterSpec, check_cluster_spec

__all__ = ["AmlComputeProvisioningConfiguration", "whole_number"]


class AmlComputeProvisioningConfiguration(MachineConfiguration):
    """Numbers may be strings, as they come from environment variables. Accounts, networks and identities of
    the cloud are checked and then not used."""

    def __init__(
        self,
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
        compute_location: Optional[str] = None,
        enable_node_public_ip: bool = True,
    ) -> None:
        network = (vnet_resourcegroup_name, vnet_name, subnet_name)
        super().__init__("AmlCompute", compute_location, vm_size, network, tags, description)
        self.vm_priority = vm_priority
        self.scale_settings = ScaleSettings(min_nodes, max_nodes, idle_seconds_before_scaledown)
        self.admin_username = admin_username
        self.admin_user_password = admin_user_password
        self.admin_user_ssh_key = admin_user_ssh_key
        self.remote_login_port_public_access = remote_login_port_public_access
        self.identity_type = identity_type
        self.identity_id = identity_id
        self.compute_location = compute_location
        self.enable_node_public_ip = enable_node_public_ip
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """ComputeError that names what contradicts what."""
        self.cluster_spec()
        super().validate_configuration()
        if self.admin_username and not (self.admin_user_password or self.admin_user_ssh_key):
            raise ComputeError(
                "admin_username was given without admin_user_password or admin_user_ssh_key. Give one of them."
            )
        if not self.admin_username and (self.admin_user_password or self.admin_user_ssh_key):
            raise ComputeError("admin_user_password or admin_user_ssh_key was given without admin_username.")
        if self.identity_id and str(self.identity_type or "").lower() != "userassigned":
            raise ComputeError(f"identity_id needs identity_type='UserAssigned'; given: {self.identity_type!r}.")

    def cluster_spec(self) -> ClusterSpec:
        """The same as data for the keeper."""
        scale = self.scale_settings
        if scale.maximum_node_count is None:
            raise ComputeError(
                "max_nodes is missing. Say how many nodes the target may have at most, such as max_nodes=4."
            )
        priority = str(self.vm_priority or "dedicated").lower()
        spec = ClusterSpec(
            vm_priority=priority,
            min_nodes=whole_number(0 if scale.minimum_node_count is None else scale.minimum_node_count, "min_nodes"),
            max_nodes=whole_number(scale.maximum_node_count, "max_nodes"),
            idle_seconds_before_scaledown=whole_number(
                1800 if scale.idle_seconds_before_scaledown is None else scale.idle_seconds_before_scaledown,
                "idle_seconds_before_scaledown",
            ),
            **self.cluster_fields(),
        )
        return check_cluster_spec(spec)


def whole_number(value: Any, name: str) -> int:
    """The number in 4, 4.0 or '4'; ComputeError names the field."""
    try:
        number = int(value) if isinstance(value, str) else value
        if not isinstance(number, bool) and number == int(number):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ComputeError(f"{name}={value!r} is not allowed. Give a whole number.")
