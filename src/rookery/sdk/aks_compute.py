"""AksCompute: v1's Kubernetes cluster for web services. Here services run on the keeper's machine; this is the name for it."""

from __future__ import annotations

from typing import Any, NoReturn, Optional

from rookery.errors import ComputeError, UnsupportedError
from rookery.sdk.compute import (
    KIND_TAG,
    ComputeTargetAttachConfiguration,
    ComputeTargetProvisioningConfiguration,
    ComputeTargetUpdateConfiguration,
)
from rookery.sdk.kept_compute import KeptCompute, tell, wait_until
from rookery.spec.compute import ClusterSpec, check_cluster_spec

__all__ = [
    "AksAttachConfiguration",
    "AksCompute",
    "AksProvisioningConfiguration",
    "AksUpdateConfiguration",
    "SslConfiguration",
    "SystemService",
]

_PURPOSES = ("FastProd", "DevTest")


class _Cluster:
    """What both kinds of configuration share: a purpose and encryption, checked and then not used."""

    cluster_purpose: Optional[str]
    ssl_cname: Optional[str]
    ssl_cert_pem_file: Optional[str]
    ssl_key_pem_file: Optional[str]

    def enable_ssl(
        self,
        ssl_cname: Optional[str] = None,
        ssl_cert_pem_file: Optional[str] = None,
        ssl_key_pem_file: Optional[str] = None,
        leaf_domain_label: Optional[str] = None,
        overwrite_existing_domain: bool = False,
    ) -> None:
        """Kept and not used: services here speak what the keeper speaks (setting `tls`)."""
        self.ssl_cname, self.ssl_cert_pem_file, self.ssl_key_pem_file = ssl_cname, ssl_cert_pem_file, ssl_key_pem_file
        self.leaf_domain_label, self.overwrite_existing_domain = leaf_domain_label, overwrite_existing_domain
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """ComputeError that names what contradicts what."""
        if self.cluster_purpose not in (None, *_PURPOSES):
            raise ComputeError(
                f"cluster_purpose={self.cluster_purpose!r} does not exist. Known: {', '.join(_PURPOSES)}."
            )
        files = (self.ssl_cname, self.ssl_cert_pem_file, self.ssl_key_pem_file)
        if any(files) and not all(files):
            raise ComputeError("Encryption needs all of ssl_cname, ssl_cert_pem_file and ssl_key_pem_file.")

    def cluster_spec(self) -> ClusterSpec:
        """The same as data for the keeper. Services take no node of it."""
        return check_cluster_spec(
            ClusterSpec(vm_size=str(getattr(self, "vm_size", "") or ""), max_nodes=1, tags={KIND_TAG: "AKS"})
        )


class AksProvisioningConfiguration(_Cluster, ComputeTargetProvisioningConfiguration):
    """What a new cluster shall be like; `agent_count` and networks are checked and not used."""

    def __init__(
        self,
        agent_count: Optional[int],
        vm_size: Optional[str],
        ssl_cname: Optional[str],
        ssl_cert_pem_file: Optional[str],
        ssl_key_pem_file: Optional[str],
        location: Optional[str],
        vnet_resourcegroup_name: Optional[str],
        vnet_name: Optional[str],
        subnet_name: Optional[str],
        service_cidr: Optional[str],
        dns_service_ip: Optional[str],
        docker_bridge_cidr: Optional[str],
        cluster_purpose: Optional[str],
        load_balancer_type: Optional[str],
        load_balancer_subnet: Optional[str],
    ) -> None:
        super().__init__("AKS", location)
        self.agent_count, self.vm_size = agent_count, vm_size
        self.ssl_cname, self.ssl_cert_pem_file, self.ssl_key_pem_file = ssl_cname, ssl_cert_pem_file, ssl_key_pem_file
        self.vnet_resourcegroup_name, self.vnet_name, self.subnet_name = vnet_resourcegroup_name, vnet_name, subnet_name
        self.leaf_domain_label: Optional[str] = None
        self.overwrite_existing_domain = False
        self.service_cidr, self.dns_service_ip = service_cidr, dns_service_ip
        self.docker_bridge_cidr, self.cluster_purpose = docker_bridge_cidr, cluster_purpose
        self.load_balancer_type, self.load_balancer_subnet = load_balancer_type, load_balancer_subnet
        if agent_count is not None and int(agent_count) <= 0:
            raise ComputeError(f"agent_count={agent_count} is not allowed. Give a number above 0, or leave it out.")
        self.validate_configuration()


class AksAttachConfiguration(_Cluster, ComputeTargetAttachConfiguration):
    """A cluster that is there. Differs: none is looked for, the name stands for the keeper's machine."""

    def __init__(
        self,
        resource_group: Optional[str] = None,
        cluster_name: Optional[str] = None,
        resource_id: Optional[str] = None,
        cluster_purpose: Optional[str] = None,
        load_balancer_type: Optional[str] = None,
        load_balancer_subnet: Optional[str] = None,
    ) -> None:
        super().__init__("AKS")
        self.resource_group, self.cluster_name, self.resource_id = resource_group, cluster_name, resource_id
        self.cluster_purpose = cluster_purpose
        self.ssl_cname = self.ssl_cert_pem_file = self.ssl_key_pem_file = None
        self.leaf_domain_label: Optional[str] = None
        self.overwrite_existing_domain = False
        self.load_balancer_type, self.load_balancer_subnet = load_balancer_type, load_balancer_subnet
        self.validate_configuration()


class SslConfiguration:
    """Encryption of a cluster, as data. Not used."""

    def __init__(
        self,
        status: Optional[str] = None,
        cert: Optional[str] = None,
        key: Optional[str] = None,
        cname: Optional[str] = None,
        leaf_domain_label: Optional[str] = None,
        overwrite_existing_domain: bool = False,
        renew: bool = False,
    ) -> None:
        self.status, self.cert, self.key, self.cname = status, cert, key, cname
        self.leaf_domain_label, self.renew = leaf_domain_label, renew
        self.overwrite_existing_domain = overwrite_existing_domain

    def serialize(self) -> dict[str, Any]:
        return {"status": self.status, "cname": self.cname, "leafDomainLabel": self.leaf_domain_label}

    @staticmethod
    def deserialize(object_dict: Optional[dict[str, Any]]) -> Optional[SslConfiguration]:
        if not object_dict:
            return None
        found = object_dict.get
        return SslConfiguration(found("status"), None, None, found("cname"), found("leafDomainLabel"))


class SystemService:
    """A service that v1's clusters ran for themselves, as data."""

    def __init__(self, service_type: str, version: str, public_ip_address: str) -> None:
        self.service_type, self.version, self.public_ip_address = service_type, version, public_ip_address

    def serialize(self) -> dict[str, Any]:
        return {"serviceType": self.service_type, "version": self.version, "publicIpAddress": self.public_ip_address}

    @staticmethod
    def deserialize(object_dict: dict[str, Any]) -> SystemService:
        return SystemService(object_dict["serviceType"], object_dict["version"], object_dict["publicIpAddress"])


class AksUpdateConfiguration(ComputeTargetUpdateConfiguration):
    """What `update` takes. Nothing of it is used."""

    def __init__(
        self, ssl_configuration: Any = None, load_balancer_type: Any = None, load_balancer_subnet: Any = None
    ) -> None:
        self.ssl_configuration = ssl_configuration
        self.load_balancer_type, self.load_balancer_subnet = load_balancer_type, load_balancer_subnet

    def validate_configuration(self) -> None:
        """Nothing to contradict."""


class AksCompute(KeptCompute):
    """A `deployment_target` for AksWebservice. Differs: services run on the keeper's machine, not on this."""

    class ClusterPurpose:
        FAST_PROD = "FastProd"
        DEV_TEST = "DevTest"

    _compute_type = "AKS"

    @staticmethod
    def provisioning_configuration(
        agent_count: Optional[int] = None,
        vm_size: Optional[str] = None,
        ssl_cname: Optional[str] = None,
        ssl_cert_pem_file: Optional[str] = None,
        ssl_key_pem_file: Optional[str] = None,
        location: Optional[str] = None,
        vnet_resourcegroup_name: Optional[str] = None,
        vnet_name: Optional[str] = None,
        subnet_name: Optional[str] = None,
        service_cidr: Optional[str] = None,
        dns_service_ip: Optional[str] = None,
        docker_bridge_cidr: Optional[str] = None,
        cluster_purpose: Optional[str] = None,
        load_balancer_type: Optional[str] = None,
        load_balancer_subnet: Optional[str] = None,
    ) -> AksProvisioningConfiguration:
        """What `ComputeTarget.create` takes. ComputeError if it contradicts itself."""
        return AksProvisioningConfiguration(**locals())

    @staticmethod
    def attach_configuration(
        resource_group: Optional[str] = None,
        cluster_name: Optional[str] = None,
        resource_id: Optional[str] = None,
        cluster_purpose: Optional[str] = None,
        load_balancer_type: Optional[str] = None,
        load_balancer_subnet: Optional[str] = None,
    ) -> AksAttachConfiguration:
        """What `ComputeTarget.attach` takes."""
        return AksAttachConfiguration(**locals())

    @staticmethod
    def attach(workspace: Any, name: str, resource_id: Any) -> Any:
        """v1's older spelling: a resource id, or a configuration."""
        from rookery.sdk.aml_compute import create_cluster

        given = AksAttachConfiguration(resource_id=resource_id) if isinstance(resource_id, str) else resource_id
        return create_cluster(workspace, name, given)

    def wait_for_completion(self, show_output: bool = False, is_delete_operation: bool = False) -> None:
        """Return when it can be used, or is deleted."""
        if wait_until(self, show_output, 25, "Compute target deleted" if is_delete_operation else "") == "ready":
            tell(show_output, f'AKS: provisioning operation finished, operation "{self.provisioning_state}"')

    def get_status(self) -> str:
        """The provisioning state now."""
        self.refresh_state()
        return self.provisioning_state

    def update(self, update_configuration: Any) -> None:
        """Nothing of a cluster's own can be changed here."""

    def get_credentials(self) -> NoReturn:
        raise UnsupportedError(
            "AksCompute.get_credentials is not available in Rookery: services run on the keeper's machine, there is no cluster."
        )

    def delete(self) -> None:
        """Forget the name. Services that were deployed under it stay."""
        self._remove()

    detach = delete

    def serialize(self) -> dict[str, Any]:
        return self._serialized(properties={"agentVmSize": self._data["spec"]["vm_size"]})

    def __repr__(self) -> str:
        return f"AksCompute(name='{self.name}', provisioning_state='{self.provisioning_state}')"
