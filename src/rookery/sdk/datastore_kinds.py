"""The datastores that code holds, under v1's class names: what a store is called, and its files up and down."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from rookery.sdk.datastore_files import download_files, upload_files
from rookery.spec.data_definition import check_pattern
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.data_reference import DataReference
    from rookery.sdk.workspace import Workspace

__all__ = [
    "AbstractAzureStorageDatastore",
    "AbstractDatastore",
    "AbstractStorageDatastore",
    "AzureBlobDatastore",
    "AzureFileDatastore",
    "make_datastore",
]


class AbstractDatastore:
    """One datastore of a workspace, as it was when it was asked for."""

    def __init__(
        self, workspace: Workspace, name: str, datastore_type: str, _data: Optional[dict[str, Any]] = None
    ) -> None:
        self.workspace = workspace
        self.name = name
        self.datastore_type = datastore_type
        self._data = _data or {"spec": {}, "facts": {}, "kind": ""}

    def set_as_default(self) -> None:
        """From now on `ws.get_default_datastore()` is this one."""
        self.workspace.client.request("POST", f"/datastores/{quote_path(self.name)}/default")

    def unregister(self) -> None:
        """Forget it; its files stay."""
        self.workspace.client.request("DELETE", f"/datastores/{quote_path(self.name)}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractDatastore):
            return NotImplemented
        return (self.name, self.workspace) == (other.name, other.workspace)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        place = (
            self._data["spec"].get("folder") or self._data["spec"].get("url") or self._data["spec"].get("bucket") or ""
        )
        return f'{{\n  "name": "{self.name}",\n  "datastore_type": "{self.datastore_type}",\n  "place": "{place}"\n}}'


class AbstractStorageDatastore(AbstractDatastore):
    """One that holds files."""

    @property
    def account_name(self) -> str:
        """v1 code prints it: the storage account, and of others what comes nearest."""
        return str(self._data["spec"].get("account") or self._data["spec"].get("endpoint") or self.workspace.name)

    @property
    def container_name(self) -> str:
        spec = self._data["spec"]
        return str(spec.get("container") or spec.get("bucket") or self.name)

    @property
    def protocol(self) -> str:
        return str(self._data["facts"].get("protocol") or "https")

    @property
    def endpoint(self) -> str:
        return str(self._data["spec"].get("endpoint") or "")

    @property
    def credential_type(self) -> str:
        return "Sealed" if self._data.get("has_credentials") else "None"

    is_sas = property(lambda self: False)
    # Nobody is ever shown them; v1 code looks whether they are there.
    account_key = property(lambda self: None)
    sas_token = property(lambda self: None)

    def path(self, path: Optional[str] = None, data_reference_name: Optional[str] = None) -> DataReference:
        """A place on it, as `Dataset.File.from_files` and arguments of a run take it."""
        from rookery.sdk.data_reference import DataReference

        return DataReference(self, data_reference_name, check_pattern(path) or None)

    def as_mount(self) -> DataReference:
        return self.path().as_mount()

    def as_download(self, path_on_compute: Optional[str] = None) -> DataReference:
        return self.path().as_download(path_on_compute)

    def as_upload(self, path_on_compute: Optional[str] = None) -> DataReference:
        return self.path().as_upload(path_on_compute)

    def upload(
        self, src_dir: str, target_path: Optional[str] = None, overwrite: bool = False, show_progress: bool = True
    ) -> DataReference:
        """Send a folder. Files that are there stay, unless `overwrite`. Returns where it lies."""
        upload_files(self, src_dir, None, check_pattern(target_path), overwrite, show_progress)
        return self.path(target_path)

    def upload_files(
        self,
        files: Sequence[str],
        relative_root: Optional[str] = None,
        target_path: Optional[str] = None,
        overwrite: bool = False,
        show_progress: bool = True,
    ) -> DataReference:
        """Send some files; below `relative_root` they keep their folders, without it they have none."""
        root = os.fspath(relative_root) if relative_root is not None else None
        upload_files(self, root, list(files), check_pattern(target_path), overwrite, show_progress)
        return self.path(target_path)

    def download(
        self, target_path: str, prefix: Optional[str] = None, overwrite: bool = False, show_progress: bool = True
    ) -> int:
        """Fetch what lies below `prefix`, with its folders; how many files came. What is there stays, unless `overwrite`."""
        return download_files(self, target_path, check_pattern(prefix), overwrite)


class AbstractAzureStorageDatastore(AbstractStorageDatastore):
    """v1's base class of the two that every workspace has."""


class AzureBlobDatastore(AbstractAzureStorageDatastore):
    """`workspaceblobstore`, and whatever was registered as a blob container."""


class AzureFileDatastore(AbstractAzureStorageDatastore):
    """`workspacefilestore`."""


_CLASSES = {"AzureBlob": AzureBlobDatastore, "AzureFile": AzureFileDatastore}


def make_datastore(workspace: Workspace, data: dict[str, Any]) -> AbstractStorageDatastore:
    """The object for what the keeper tells of a datastore."""
    return _CLASSES.get(data["type"], AbstractStorageDatastore)(workspace, data["name"], data["type"], data)
