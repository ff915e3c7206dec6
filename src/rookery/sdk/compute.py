"""Compute targets: finding, listing and creating them. The one kind there is, a cluster, is AmlCompute."""

from __future__ import annotations

import builtins
from typing import Any, Optional
from urllib.parse import quote

from rookery.errors import ComputeNotFoundError, UnsupportedError
from rookery.spec.compute import LOCAL
from rookery.worker.placeholder import placeholder

__all__ = [
    "AdlaCompute",
    "AksCompute",
    "BatchCompute",
    "ComputeInstance",
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
    "RemoteCompute",
    "SynapseCompute",
    "compute_path",
    "fetch_compute",
]


class ComputeTarget:
    """A named pool of nodes. `ComputeTarget(workspace, name)` gives the target's own class;
    ComputeNotFoundError if there is none."""

    _compute_type = ""

    def __new__(cls, workspace: Any, name: str) -> Any:
        from rookery.sdk.aml_compute import AmlCompute

        target = object.__new__(AmlCompute)
        target._load(workspace, fetch_compute(workspace, name))
        return target

    def __init__(self, workspace: Any, name: str) -> None:
        """Everything is done in `__new__`, which decides the class."""

    @staticmethod
    def create(workspace: Any, name: str, provisioning_configuration: ComputeTargetProvisioningConfiguration) -> Any:
        """Make a target and return it at once; `wait_for_completion` waits until it can be used."""
        from rookery.sdk.aml_compute import create_cluster

        return create_cluster(workspace, name, provisioning_configuration)

    @staticmethod
    def attach(workspace: Any, name: str, attach_configuration: Any) -> Any:
        raise UnsupportedError(
            f"ComputeTarget.attach('{name}') is not available in Rookery yet. Targets are made with "
            "ComputeTarget.create(workspace, name, AmlCompute.provisioning_configuration(max_nodes=…))."
        )

    @staticmethod
    def list(workspace: Any) -> builtins.list[Any]:
        """Every target that was created; 'local', which is always there, is not one of them."""
        from rookery.sdk.aml_compute import AmlCompute

        found = []
        for data in workspace.client.request("GET", "/compute")["compute"]:
            if data["kind"] != LOCAL:
                target = object.__new__(AmlCompute)
                target._load(workspace, data)
                found.append(target)
        return found

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


class ComputeTargetAttachConfiguration:
    """Attaching is not available; the name is here for `isinstance`."""


class ComputeTargetUpdateConfiguration:
    """Of targets that are not available; the name is here for `isinstance`."""


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
    return placeholder(name, "azureml.core.compute", "yet. Clusters (AmlCompute) and 'local' are")


AdlaCompute: Any = _unavailable("AdlaCompute")
AksCompute: Any = _unavailable("AksCompute")
BatchCompute: Any = _unavailable("BatchCompute")
ComputeInstance: Any = _unavailable("ComputeInstance")
DataFactoryCompute: Any = _unavailable("DataFactoryCompute")
DatabricksCompute: Any = _unavailable("DatabricksCompute")
DsvmCompute: Any = _unavailable("DsvmCompute")
HDInsightCompute: Any = _unavailable("HDInsightCompute")
KubernetesCompute: Any = _unavailable("KubernetesCompute")
KustoCompute: Any = _unavailable("KustoCompute")
RemoteCompute: Any = _unavailable("RemoteCompute")
SynapseCompute: Any = _unavailable("SynapseCompute")
