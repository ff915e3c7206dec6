"""Places on datastores: DataPath, DataReference, and how a run gets them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import UserError
from rookery.sdk.run_config_data import SUPPORTED_DATAREF_MODES, DataReferenceConfiguration
from rookery.spec.data_definition import check_pattern

if TYPE_CHECKING:
    from rookery.sdk.datastore_kinds import AbstractStorageDatastore

__all__ = ["DataPath", "DataPathComputeBinding", "DataReference"]


class DataPath:
    """A place on a datastore."""

    def __init__(
        self,
        datastore: Optional[AbstractStorageDatastore] = None,
        path_on_datastore: Optional[str] = None,
        name: Optional[str] = None,
    ) -> None:
        if datastore is None:
            raise UserError("DataPath needs a datastore: DataPath(datastore, 'path/on/it').")
        self._datastore = datastore
        self._path = check_pattern(path_on_datastore)
        self._name = name

    @property
    def datastore(self) -> AbstractStorageDatastore:
        return self._datastore

    @property
    def datastore_name(self) -> str:
        return self._datastore.name

    @property
    def path_on_datastore(self) -> str:
        return self._path

    def create_data_reference(
        self,
        data_reference_name: Optional[str] = None,
        datapath_compute_binding: Optional[DataPathComputeBinding] = None,
    ) -> DataReference:
        binding = datapath_compute_binding or DataPathComputeBinding()
        return binding.create_data_reference(data_reference_name or self._name, self)

    @staticmethod
    def create_from_data_reference(data_reference: DataReference) -> DataPath:
        return DataPath(data_reference.datastore, data_reference.path_on_datastore, data_reference.data_reference_name)

    def __repr__(self) -> str:
        return f"DataPath(datastore={self.datastore_name!r}, path_on_datastore={self._path!r})"


class DataPathComputeBinding:
    """How a DataPath comes to a run."""

    def __init__(self, mode: str = "mount", path_on_compute: Optional[str] = None, overwrite: bool = False) -> None:
        self.mode = _mode(mode)
        self.path_on_compute = path_on_compute
        self.overwrite = overwrite

    def create_data_reference(
        self, data_reference_name: Optional[str] = None, datapath: Optional[DataPath] = None
    ) -> DataReference:
        if datapath is None:
            raise UserError("create_data_reference needs the datapath.")
        return DataReference(
            datapath.datastore,
            data_reference_name,
            datapath.path_on_datastore,
            self.mode,
            self.path_on_compute,
            self.overwrite,
        )

    @staticmethod
    def create_from_data_reference(data_reference: DataReference) -> DataPathComputeBinding:
        return DataPathComputeBinding(data_reference.mode, data_reference.path_on_compute, data_reference.overwrite)


class DataReference:
    """A place on a datastore as an argument of a run: mounted, downloaded, or (mode upload) filled by it."""

    def __init__(
        self,
        datastore: AbstractStorageDatastore,
        data_reference_name: Optional[str] = None,
        path_on_datastore: Optional[str] = None,
        mode: str = "mount",
        path_on_compute: Optional[str] = None,
        overwrite: bool = False,
    ) -> None:
        if not hasattr(datastore, "name"):
            raise UserError(f"datastore is {datastore!r}. Give a Datastore.")
        self.datastore = datastore
        self.path_on_datastore = check_pattern(path_on_datastore) or None
        if data_reference_name is None:
            data_reference_name = "ref_" + uuid.uuid4().hex if self.path_on_datastore else datastore.name
        self.data_reference_name = data_reference_name
        self.mode = _mode(mode)
        self.path_on_compute = path_on_compute
        self.overwrite = overwrite

    def path(self, path: Optional[str] = None, data_reference_name: Optional[str] = None) -> DataReference:
        """A place below this one."""
        below = "/".join(part for part in (self.path_on_datastore, check_pattern(path)) if part)
        return DataReference(
            self.datastore, data_reference_name, below, self.mode, self.path_on_compute, self.overwrite
        )

    def as_mount(self) -> DataReference:
        return self._as("mount", None, self.overwrite)

    def as_download(self, path_on_compute: Optional[str] = None, overwrite: bool = False) -> DataReference:
        return self._as("download", path_on_compute, overwrite)

    def as_upload(self, path_on_compute: Optional[str] = None, overwrite: bool = False) -> DataReference:
        return self._as("upload", path_on_compute, overwrite)

    def to_config(self) -> DataReferenceConfiguration:
        """For `run_config.data_references`."""
        return DataReferenceConfiguration(
            self.datastore.name, self.mode, self.path_on_datastore, self.path_on_compute, self.overwrite
        )

    @staticmethod
    def create(
        data_reference_name: Optional[str] = None,
        datapath: Optional[DataPath] = None,
        datapath_compute_binding: Optional[DataPathComputeBinding] = None,
    ) -> DataReference:
        if datapath is None:
            raise UserError("DataReference.create needs the datapath.")
        return datapath.create_data_reference(data_reference_name, datapath_compute_binding)

    def _as(self, mode: str, path_on_compute: Optional[str], overwrite: bool) -> DataReference:
        return DataReference(
            self.datastore, self.data_reference_name, self.path_on_datastore, mode, path_on_compute, overwrite
        )

    def __str__(self) -> str:
        """What v1 put into arguments that were joined by hand; the run has this variable."""
        return f"$AZUREML_DATAREFERENCE_{self.data_reference_name}"

    def __repr__(self) -> str:
        return (
            f"DataReference({self.datastore.name!r}, path_on_datastore={self.path_on_datastore!r}, mode={self.mode!r})"
        )


def _mode(mode: Any) -> str:
    if not isinstance(mode, str) or mode.lower() not in SUPPORTED_DATAREF_MODES:
        raise UserError(f"mode={mode!r} does not exist. Known: {', '.join(SUPPORTED_DATAREF_MODES)}.")
    return mode.lower()
