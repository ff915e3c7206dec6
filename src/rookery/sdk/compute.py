"""Compute targets: finding, listing, creating and attaching them. Clusters of this machine are AmlCompute; attached ones
are in remote_compute.py."""

from __future__ import annotations

import builtins
from typing import Any, Optional
from urllib.parse import quote

from rookery.errors import ComputeError, ComputeNotFoundError
from rookery.spec.compute import LOCAL
from rookery.worker.placeholder import placeholder

__all__ = [
    "KIND_TAG",
    "AdlaCompute",
    "BatchCompute",
    "ComputeTarget",
    "ComputeTargetAttachConfiguration",
    "ComputeTargetProvisioningConfiguration",
    "ComputeTargetUpdateConfiguration",
    "DataFactoryCompute",
    "DatabricksCompute",
    "DsvmCompute",
    "HDInsightCompute",
    "KubernetesCompute",
    "KustoCompute",
    "MachineConfiguration",
    "SynapseCompute",
    "compute_path",
    "fetch_compute",
    "target_from",
]

# The tag by which a pool of this machine is known as another of v1's kinds than AmlCompute.
KIND_TAG = "rookery.compute_type"


class ComputeTarget:
    """A named pool of nodes. `ComputeTarget(workspace, name)` gives the target's own class;
    ComputeNotFoundError if there is none."""

    _compute_type = ""

    def __new__(cls, workspace: Any, name: str) -> Any:
        return target_from(workspace, fetch_compute(workspace, name))

    def __init__(self, workspace: Any, name: str) -> None:
        """Everything is done in `__new__`, which decides the class."""

    @staticmethod
    def create(workspace: Any, name: str, provisioning_configuration: ComputeTargetProvisioningConfiguration) -> Any:
        """Make a target and return it at once; `wait_for_completion` waits until it can be used."""
        from rookery.sdk.aml_compute import create_cluster

        return create_cluster(workspace, name, provisioning_configuration)

    @staticmethod
    def attach(workspace: Any, name: str, attach_configuration: Any) -> Any:
        """Attach machines that are there already: `RemoteCompute.attach_configuration(…)`, RayCompute's or SlurmCompute's."""
        from rookery.sdk.aks_compute import AksAttachConfiguration, AksCompute
        from rookery.sdk.attached_compute import attach_compute

        if isinstance(attach_configuration, AksAttachConfiguration):
            return AksCompute.attach(workspace, name, attach_configuration)
        return attach_compute(workspace, name, attach_configuration)

    @staticmethod
    def list(workspace: Any) -> builtins.list[Any]:
        """Every target that was created or attached; 'local', which is always there, is not one of them."""
        listed = workspace.client.request("GET", "/compute")["compute"]
        return [target_from(workspace, data) for data in listed if data["kind"] != LOCAL]

    @staticmethod
    def deserialize(workspace: Any, object_dict: dict[str, Any]) -> Any:
        """The target that `serialize` described, as it is now."""
        return ComputeTarget(workspace, object_dict["name"])


class ComputeTargetProvisioningConfiguration:
    """What a new target shall be like."""

    def __init__(self, type: Any, location: Optional[str]) -> None:
        self._compute_type = type
        self.location = location

    def validate_configuration(self) -> None:
        """ComputeError if it contradicts itself."""


class MachineConfiguration(ComputeTargetProvisioningConfiguration):
    """What clusters and instances share. A network of the cloud is checked and then not used."""

    def __init__(
        self,
        type: Any,
        location: Optional[str],
        vm_size: str,
        network: tuple[Optional[str], Optional[str], Optional[str]],
        tags: Optional[dict[str, str]],
        description: Optional[str],
    ) -> None:
        super().__init__(type, location)
        self.vm_size, self.tags, self.description = vm_size, tags, description
        self.vnet_resourcegroup_name, self.vnet_name, self.subnet_name = network

    def validate_configuration(self) -> None:
        """ComputeError that names what contradicts what."""
        names = ("vnet_resourcegroup_name", "vnet_name", "subnet_name")
        missing = [name for name in names if not getattr(self, name)]
        if missing and len(missing) < len(names):
            raise ComputeError(f"A virtual network needs all of {', '.join(names)}; missing: {', '.join(missing)}.")

    def cluster_fields(self) -> dict[str, Any]:
        """Those of a ClusterSpec that come from here."""
        return {
            "vm_size": str(self.vm_size or ""),
            "tags": {str(key): str(value) for key, value in (self.tags or {}).items()},
            "description": str(self.description or ""),
        }


class ComputeTargetAttachConfiguration:
    """What a target that is attached is like."""

    def __init__(self, type: Any = None) -> None:
        self._compute_type = type

    def validate_configuration(self) -> None:
        """ComputeError if it contradicts itself."""


class ComputeTargetUpdateConfiguration:
    """Of targets that are not available; the name is here for `isinstance`."""


def target_from(workspace: Any, data: dict[str, Any]) -> Any:
    """The target of its own class, from what the keeper tells."""
    from rookery.sdk.aks_compute import AksCompute
    from rookery.sdk.aml_compute import AmlCompute
    from rookery.sdk.compute_instance import ComputeInstance
    from rookery.sdk.remote_compute import ExportedCompute, RayCompute, RemoteCompute, SlurmCompute

    classes: dict[str, Any] = {"ray": RayCompute, "slurm": SlurmCompute, "ssh": RemoteCompute}
    classes["kubernetes"] = ExportedCompute
    kinds: dict[str, Any] = {"ComputeInstance": ComputeInstance, "AKS": AksCompute}
    made_here = kinds.get(data["spec"]["tags"].get(KIND_TAG, ""), AmlCompute)
    target = object.__new__(classes.get(data["spec"].get("engine", ""), made_here))
    target._load(workspace, data)
    return target


def fetch_compute(workspace: Any, name: str) -> dict[str, Any]:
    """The target as the keeper tells it.

    Raises:
        ComputeNotFoundError: there is none, with the names that there are.
    """
    if str(name) == LOCAL:
        raise ComputeNotFoundError(
            "'local' is this machine and no object: pass compute_target='local', or leave it out."
        )
    try:
        return workspace.client.request("GET", compute_path(name))
    except ComputeNotFoundError:
        known = [c["name"] for c in workspace.client.request("GET", "/compute")["compute"]]
        raise ComputeNotFoundError(
            f"Compute target '{name}' does not exist. Known: {', '.join(known) or LOCAL}. Create it with "
            f"ComputeTarget.create(workspace, '{name}', AmlCompute.provisioning_configuration(max_nodes=…)) "
            "or `rookery compute create`."
        ) from None


def compute_path(name: str) -> str:
    return "/compute/" + quote(str(name), safe="")


def _unavailable(name: str) -> Any:
    return placeholder(
        name,
        "azureml.core.compute",
        "yet. Clusters (AmlCompute), instances (ComputeInstance), attached machines (RemoteCompute, RayCompute, SlurmCompute) and 'local' are",
    )


AdlaCompute: Any = _unavailable("AdlaCompute")
BatchCompute: Any = _unavailable("BatchCompute")
DataFactoryCompute: Any = _unavailable("DataFactoryCompute")
DatabricksCompute: Any = _unavailable("DatabricksCompute")
DsvmCompute: Any = _unavailable("DsvmCompute")
HDInsightCompute: Any = _unavailable("HDInsightCompute")
KubernetesCompute: Any = _unavailable("KubernetesCompute")
KustoCompute: Any = _unavailable("KustoCompute")
SynapseCompute: Any = _unavailable("SynapseCompute")
