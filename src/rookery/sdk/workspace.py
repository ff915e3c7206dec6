"""Workspace: one home for everything, a folder with its keeper or a server's address."""

from __future__ import annotations

import builtins
import os
import shutil
from typing import TYPE_CHECKING, Any, Optional

from rookery.client import Client, WorkspaceAddress, create_workspace, find_workspace, list_workspaces
from rookery.client import write_config as write_config_file
from rookery.client.folder import workspaces_folder
from rookery.errors import ComputeNotFoundError, UnsupportedError
from rookery.sdk.collection import NamedCollection
from rookery.sdk.context import is_in_run
from rookery.sdk.filters import given, texts
from rookery.sdk.html import link, table
from rookery.sdk.own_workspaces import address_of, find_own
from rookery.sdk.unsupported import later

if TYPE_CHECKING:
    from rookery.sdk.run import Run

__all__ = ["Workspace"]

# Keys of `get_details` that name resources which a workspace of one's own does not have.
_OF_A_CLOUD = (
    "storageAccount", "keyVault", "applicationInsights", "containerRegistry", "identityPrincipalId", "identityTenantId",
    "identityType", "sdkTelemetryAppInsightsKey", "notebookInfo", "imageBuildCompute",
)  # fmt: skip


class _DefaultCluster:
    """v1's configuration of a default cluster, made when it is looked at: compute is not imported before."""

    def __init__(self, vm_size: str) -> None:
        self._vm_size = vm_size

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        from rookery.sdk.aml_compute import AmlCompute

        return AmlCompute.provisioning_configuration(vm_size=self._vm_size, min_nodes=0, max_nodes=2)


class Workspace:
    """A workspace. `Workspace(subscription_id, resource_group, workspace_name)` opens one of one's own.

    Opening asks nothing of the keeper; the first question starts it where none is running.
    """

    DEFAULT_CPU_CLUSTER_NAME = "cpu-cluster"
    DEFAULT_GPU_CLUSTER_NAME = "gpu-cluster"
    DEFAULT_CPU_CLUSTER_CONFIGURATION = _DefaultCluster("STANDARD_DS2_V2")
    DEFAULT_GPU_CLUSTER_CONFIGURATION = _DefaultCluster("STANDARD_NC6")

    def __init__(
        self,
        subscription_id: Optional[str],
        resource_group: Optional[str],
        workspace_name: str,
        auth: Any = None,
        _location: Any = None,
        _disable_service_check: bool = False,
        _workspace_id: Any = None,
        sku: str = "basic",
        tags: Any = None,
        _cloud: str = "AzureCloud",
        *,
        _address: Optional[WorkspaceAddress] = None,
        _connected: Any = None,
    ) -> None:
        self._address = _address or find_own(workspace_name, subscription_id, resource_group)
        self._connected = _connected
        self._keeper_url: Optional[str] = self._address.url
        self._sku = sku

    # -- finding and making one

    @staticmethod
    def from_config(
        path: Optional[str] = None, auth: Any = None, _logger: Any = None, _file_name: Optional[str] = None
    ) -> Workspace:
        """The workspace that a config.json names, looked for from `path` upwards.

        Inside a run it is the run's own: a config.json in the snapshot may lead nowhere from there. Where no
        config is found it is the person's default workspace, said in one line (with the setting
        strict_config: ConfigError).
        """
        if _file_name is not None:
            path = os.path.join(path or ".", _file_name)
        if path is None and is_in_run():
            return Workspace._of_client(Client.in_run())
        return Workspace._from_address(find_workspace(path))

    @staticmethod
    def create(
        name: str,
        auth: Any = None,
        subscription_id: Optional[str] = None,
        resource_group: Optional[str] = None,
        location: Optional[str] = None,
        create_resource_group: bool = True,
        sku: str = "basic",
        tags: Any = None,
        friendly_name: Optional[str] = None,
        storage_account: Any = None,
        key_vault: Any = None,
        app_insights: Any = None,
        container_registry: Any = None,
        adb_workspace: Any = None,
        primary_user_assigned_identity: Any = None,
        cmk_keyvault: Any = None,
        resource_cmk_uri: Any = None,
        hbi_workspace: bool = False,
        default_cpu_compute_target: Any = None,
        default_gpu_compute_target: Any = None,
        private_endpoint_config: Any = None,
        private_endpoint_auto_approval: bool = True,
        exist_ok: bool = False,
        show_output: bool = True,
        user_assigned_identity_for_cmk_encryption: Any = None,
        system_datastores_auth_mode: str = "accessKey",
        v1_legacy_mode: Any = None,
    ) -> Workspace:
        """Make a workspace of the person's own, in $ROOKERY_HOME/workspaces/<name>. What only a cloud needs
        is left aside.

        Raises:
            WorkspaceError: it exists, and exist_ok is not set.
        """
        root = os.path.join(workspaces_folder(), name)
        identity = create_workspace(root, name, subscription_id, resource_group, location, exist_ok=exist_ok)
        workspace = Workspace._from_address(address_of(identity))
        if tags or friendly_name:
            workspace.update(friendly_name=friendly_name, tags=tags)
        workspace._make_default_clusters(default_cpu_compute_target, default_gpu_compute_target)
        return workspace

    @staticmethod
    def get(
        name: str,
        auth: Any = None,
        subscription_id: Optional[str] = None,
        resource_group: Optional[str] = None,
        location: Any = None,
        cloud: str = "AzureCloud",
        id: Any = None,
    ) -> Workspace:
        """One of the person's own workspaces, by name; WorkspaceNotFoundError lists the others."""
        return Workspace(subscription_id, resource_group, name, auth)

    @staticmethod
    def list(
        subscription_id: Optional[str] = None, auth: Any = None, resource_group: Optional[str] = None
    ) -> dict[str, builtins.list[Workspace]]:
        """The person's own workspaces by name (each in a list, because in v1 resource groups may share
        names)."""
        found: dict[str, builtins.list[Workspace]] = {}
        for identity in list_workspaces():
            if resource_group in (None, identity.resource_group):
                found.setdefault(identity.name, []).append(Workspace._from_address(address_of(identity)))
        return found

    def write_config(self, path: Optional[str] = None, file_name: Optional[str] = None) -> None:
        """Write the config.json that `from_config` finds: `<path>/<file_name>`, by default
        ./.azureml/config.json."""
        write_config_file(self._address, path, file_name)

    # -- what it is

    @property
    def name(self) -> str:
        return self._address.name

    @property
    def subscription_id(self) -> str:
        return self._address.subscription_id

    @property
    def resource_group(self) -> str:
        return self._address.resource_group

    @property
    def location(self) -> str:
        return self._address.location or "local"

    @property
    def sku(self) -> str:
        return self._sku

    @property
    def discovery_url(self) -> str:
        return f"{self._base_url}/discovery"

    @property
    def tags(self) -> dict[str, Any]:
        return dict(self.client.request("GET", "/workspace").get("tags") or {})

    @property
    def root(self) -> Optional[str]:
        """Its folder on this machine; None for a server's."""
        return self._address.root

    @property
    def client(self) -> Any:
        """Asks its keeper; connected, and the keeper started, at the first use."""
        if self._connected is None:
            self._connected = Client.for_address(self._address)
        return self._connected

    def get_details(self) -> dict[str, Any]:
        """Identity, tags and how much disk it takes. v1's keys for resources of a cloud are there and None."""
        told = self.client.request("GET", "/workspace")
        return {
            "id": told.get("id"),
            "workspaceid": told.get("id"),
            "name": self.name,
            "friendlyName": told.get("friendly_name") or self.name,
            "description": told.get("description") or "",
            "location": self.location,
            "type": "Rookery/workspaces",
            "tags": dict(told.get("tags") or {}),
            "sku": self.sku,
            "subscriptionId": self.subscription_id,
            "resourceGroup": self.resource_group,
            "creationTime": told.get("created_utc"),
            "discoveryUrl": self.discovery_url,
            "provisioningState": "Succeeded",
            "createdBy": told.get("created_by"),
            **dict.fromkeys(_OF_A_CLOUD),
            "hbiWorkspace": False,
            "v1LegacyMode": True,
            "path": self.root,
            "url": self._base_url,
            "diskBytes": told.get("disk_bytes"),
        }

    def update(
        self,
        friendly_name: Optional[str] = None,
        description: Optional[str] = None,
        tags: Any = None,
        image_build_compute: Any = None,
        service_managed_resources_settings: Any = None,
        primary_user_assigned_identity: Any = None,
        allow_public_access_when_behind_vnet: Any = None,
        v1_legacy_mode: Any = None,
    ) -> dict[str, Any]:
        """Change its names, description or tags; the details as they are then."""
        changes = given(friendly_name=friendly_name, description=description, tags=texts(tags))
        if changes:
            self.client.request("PATCH", "/workspace", body=changes)
        return self.get_details()

    def delete(self, delete_dependent_resources: bool = False, no_wait: bool = False) -> None:
        """Remove one of the person's own workspaces with everything in it. One beside a project, or a
        server's, is refused."""
        root = self.root
        if root is None or os.path.dirname(root) != os.path.realpath(workspaces_folder()):
            raise UnsupportedError(
                f"Workspace '{self.name}' is not below {workspaces_folder()!r}, so it is not deleted. "
                f"Stop its keeper (`rookery keeper stop`) and remove {root or 'it on its server'} yourself."
            )
        from rookery.client import stop_keeper

        stop_keeper(root)
        shutil.rmtree(root)

    # -- what is in it

    @property
    def experiments(self) -> NamedCollection:
        from rookery.sdk.experiment import Experiment

        return NamedCollection("experiment", lambda: {found.name: found for found in Experiment.list(self)})

    @property
    def compute_targets(self) -> NamedCollection:
        from rookery.sdk.compute import ComputeTarget

        return NamedCollection("compute target", lambda: {found.name: found for found in ComputeTarget.list(self)})

    @property
    def models(self) -> NamedCollection:
        """The latest version of each."""
        from rookery.sdk.model import Model

        return NamedCollection("model", lambda: {found.name: found for found in Model.list(self, latest=True)})

    @property
    def environments(self) -> NamedCollection:
        """The latest version of each, curated ones included."""
        from rookery.sdk.environment_registry import environment_of, list_environments

        return NamedCollection("environment", lambda: list_environments(self), environment_of)

    @property
    def datasets(self) -> NamedCollection:
        """The latest version of each."""
        from rookery.sdk.dataset import AbstractDataset

        return AbstractDataset.get_all(self)

    @property
    def datastores(self) -> NamedCollection:
        from rookery.sdk.datastore_kinds import make_datastore

        def names() -> dict[str, Any]:
            return {each["name"]: each for each in self.client.request("GET", "/datastores")["datastores"]}

        return NamedCollection("datastore", names, lambda data: make_datastore(self, data))

    @property
    def webservices(self) -> NamedCollection:
        from rookery.sdk.webservice import list_services, service_from

        return NamedCollection("webservice", lambda: list_services(self), lambda data: service_from(self, data))

    # Nothing of these kinds can be in a workspace of this version, so there is nothing by any name.
    images = property(lambda self: NamedCollection("image", dict))
    linked_services = property(lambda self: NamedCollection("linked service", dict))
    private_endpoints = property(lambda self: NamedCollection("private endpoint", dict))

    def get_run(self, run_id: str) -> Run:
        from rookery.sdk.run import Run

        return Run.get(self, run_id)

    def get_default_compute_target(self, type: str) -> Any:
        """The cluster named 'cpu-cluster' or 'gpu-cluster'; None where it was not created."""
        from rookery.sdk.compute import ComputeTarget

        name = self.DEFAULT_GPU_CLUSTER_NAME if str(type).upper() == "GPU" else self.DEFAULT_CPU_CLUSTER_NAME
        try:
            return ComputeTarget(self, name)
        except ComputeNotFoundError:
            return None

    def get_mlflow_tracking_uri(self, _with_auth: bool = False) -> str:
        """The address for `mlflow.set_tracking_uri`: it is all that a stock client needs. See docs/mlflow.md."""
        from rookery.sdk.tracking import tracking_uri

        return tracking_uri(self, _with_auth)

    def get_default_datastore(self) -> Any:
        """`workspaceblobstore`, unless another was set."""
        from rookery.sdk.datastore import Datastore

        return Datastore.get_default(self)

    def set_default_datastore(self, name: str) -> None:
        from rookery.sdk.datastore import Datastore

        Datastore.get(self, name).set_as_default()

    def get_default_keyvault(self) -> Any:
        """Secrets of the workspace, sealed at its keeper."""
        from rookery.sdk.keyvault import Keyvault

        return Keyvault(self)

    add_private_endpoint = later("Workspace.add_private_endpoint")
    delete_private_endpoint_connection = later("Workspace.delete_private_endpoint_connection")
    list_keys = later("Workspace.list_keys")
    sync_keys = later("Workspace.sync_keys")
    diagnose_workspace = later("Workspace.diagnose_workspace", "`rookery doctor` says what is missing.")
    update_dependencies = later("Workspace.update_dependencies")
    set_connection = later("Workspace.set_connection")
    list_connections = later("Workspace.list_connections")
    get_connection = later("Workspace.get_connection")
    delete_connection = later("Workspace.delete_connection")
    service_context = property(later("Workspace.service_context"))

    @staticmethod
    def setup() -> None:
        """Nothing to set up here."""

    def get_portal_url(self) -> str:
        return self._base_url

    def __repr__(self) -> str:
        return (
            f"Workspace.create(name={self.name!r}, subscription_id={self.subscription_id!r}, "
            f"resource_group={self.resource_group!r})"
        )

    def _repr_html_(self) -> str:
        page = link(self.get_portal_url(), "Link to the workspace")
        return table({"Name": self.name, "Location": self.location, "Folder": self.root or "", "Page": page})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Workspace):
            return NotImplemented
        return (self.root, self._address.url, self.name) == (other.root, other._address.url, other.name)

    def __hash__(self) -> int:
        return hash((self.root, self._address.url, self.name))

    # -- for the rest of the SDK

    def _make_default_clusters(self, cpu: Any, gpu: Any) -> None:
        from rookery.sdk.compute import ComputeTarget

        wanted = {self.DEFAULT_CPU_CLUSTER_NAME: cpu, self.DEFAULT_GPU_CLUSTER_NAME: gpu}
        for name, configuration in wanted.items():
            if configuration is not None and name not in self.compute_targets:
                ComputeTarget.create(self, name, configuration)

    @classmethod
    def _from_address(cls, address: WorkspaceAddress) -> Workspace:
        return cls(address.subscription_id, address.resource_group, address.name, _address=address)

    @classmethod
    def _of_client(cls, client: Any) -> Workspace:
        """The workspace that a client leads to: inside a run there is no folder and no address to know."""
        return _ConnectedWorkspace(client)

    @property
    def _base_url(self) -> str:
        """Where its pages are: the server's address, or the keeper's on this machine (which keeps its
        port)."""
        if self._keeper_url is None:
            told = self.client.request("GET", "/keeper")
            self._keeper_url = told.get("url") or f"http://127.0.0.1:{told['port']}"
        return self._keeper_url


class _ConnectedWorkspace(Workspace):
    """A workspace known by its client alone; who it is, is asked when somebody wants to know."""

    def __init__(self, client: Any) -> None:
        self._connected = client
        self._keeper_url = getattr(client, "url", None)
        self._sku = "basic"
        self._asked: Optional[WorkspaceAddress] = None

    @property
    def _address(self) -> WorkspaceAddress:  # type: ignore[override]
        if self._asked is None:
            told = self._connected.request("GET", "/workspace")
            self._asked = WorkspaceAddress(
                told["name"],
                told["subscription_id"],
                told["resource_group"],
                told.get("location") or "local",
                root=told.get("root"),
                url=getattr(self._connected, "url", None),
            )
        return self._asked
