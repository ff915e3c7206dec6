"""The data elements of a RunConfiguration, as they are kept and saved; `submission_data` turns them into inputs and outputs."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.element import Element

__all__ = [
    "SUPPORTED_DATAREF_MODES",
    "SUPPORTED_DELIVERY_MECHANISM",
    "Data",
    "DataLocation",
    "DataPath",
    "DataReferenceConfiguration",
    "DatacacheConfiguration",
    "Dataset",
    "DatasetRegistrationOptions",
    "GlobsOptions",
    "MountOptions",
    "OutputData",
    "OutputOptions",
    "RegistrationOptions",
    "UploadOptions",
    "Uri",
]

SUPPORTED_DATAREF_MODES = ["mount", "download", "upload"]
SUPPORTED_DELIVERY_MECHANISM = ["direct", "mount", "download", "upload"]


class DataReferenceConfiguration(Element):
    def __init__(
        self,
        datastore_name: Optional[str] = None,
        mode: str = "mount",
        path_on_datastore: Optional[str] = None,
        path_on_compute: Optional[str] = None,
        overwrite: bool = False,
    ) -> None:
        self.data_store_name = datastore_name
        self.path_on_data_store = path_on_datastore
        self.path_on_compute = path_on_compute
        self.mode = _mode(mode, "mode", SUPPORTED_DATAREF_MODES)
        self.overwrite = overwrite


class DataPath(Element):
    def __init__(self, datastore_name: Optional[str] = None, relative_path: Optional[str] = None) -> None:
        self.datastore_name = datastore_name
        self.relative_path = relative_path


class Dataset(Element):
    def __init__(
        self,
        dataset_id: Optional[str] = None,
        dataset_name: Optional[str] = None,
        dataset_version: Optional[str] = None,
    ) -> None:
        self.id = dataset_id
        self.name = dataset_name
        self.version = dataset_version


class Uri(Element):
    def __init__(self, path: Optional[str] = None, is_file: bool = False) -> None:
        self.path = path
        self.is_file = is_file


class DataLocation(Element):
    _element_types = {"dataset": Dataset, "data_path": DataPath, "uri": Uri}

    def __init__(
        self,
        dataset: Optional[Dataset] = None,
        data_path: Optional[DataPath] = None,
        uri: Optional[Uri] = None,
    ) -> None:
        self.dataset = dataset
        self.data_path = data_path
        self.uri = uri


class Data(Element):
    _element_types = {"data_location": DataLocation}

    def __init__(
        self,
        data_location: Optional[DataLocation] = None,
        create_output_directories: Optional[bool] = None,
        mechanism: str = "direct",
        environment_variable_name: Optional[str] = None,
        path_on_compute: Optional[str] = None,
        overwrite: bool = False,
        options: Optional[dict[str, str]] = None,
    ) -> None:
        self.data_location = data_location
        self.create_output_directories = create_output_directories
        self.mechanism = _mode(mechanism, "mechanism", SUPPORTED_DELIVERY_MECHANISM)
        self.environment_variable_name = environment_variable_name
        self.path_on_compute = path_on_compute
        self.overwrite = overwrite
        self.options = options

    @staticmethod
    def create(data: Any) -> Data:
        """A Data element from one, or from its plain form."""
        return data if isinstance(data, Data) else Data.from_dict(data)


class DatacacheConfiguration(Element):
    def __init__(
        self,
        dataset_id: Optional[str] = None,
        datacache_store: Optional[str] = None,
        datacache_id: Optional[str] = None,
        mode: str = "mount",
        path_on_compute: Optional[str] = None,
        replica: Any = None,
        failure_fallback: bool = False,
    ) -> None:
        self.datacache_id = datacache_id
        self.datacache_store = datacache_store
        self.dataset_id = dataset_id
        self.mode = mode.lower()
        self.path_on_compute = path_on_compute
        self.replica = replica
        self.failure_fallback = failure_fallback

    @staticmethod
    def create(data: Any) -> DatacacheConfiguration:
        """A DatacacheConfiguration from one, or from its plain form."""
        return data if isinstance(data, DatacacheConfiguration) else DatacacheConfiguration.from_dict(data)


class DatasetRegistrationOptions(Element):
    def __init__(self, additional_transformations: Any = None) -> None:
        self.additional_transformation = additional_transformations


class RegistrationOptions(Element):
    _element_types = {"dataset_registration_options": DatasetRegistrationOptions}

    def __init__(
        self,
        name: Optional[str] = None,
        description: Optional[str] = None,
        tags: Optional[dict[str, str]] = None,
        dataset_registration_options: Optional[DatasetRegistrationOptions] = None,
    ) -> None:
        self.name = name
        self.description = description
        self.tags = tags
        self.dataset_registration_options = dataset_registration_options


class GlobsOptions(Element):
    def __init__(self, patterns: Optional[list[str]] = None) -> None:
        self.patterns = patterns


class UploadOptions(Element):
    _element_types = {"source_globs": GlobsOptions}

    def __init__(self, overwrite: bool = False, source_globs: Optional[GlobsOptions] = None) -> None:
        self.overwrite = overwrite
        self.source_globs = source_globs


class MountOptions(Element):
    def __init__(self, disable_metadata_cache: bool = False) -> None:
        self.disable_metadata_cache = disable_metadata_cache


class OutputOptions(Element):
    _element_types = {
        "registration_options": RegistrationOptions,
        "upload_options": UploadOptions,
        "mount_options": MountOptions,
    }

    def __init__(
        self,
        path_on_compute: Optional[str] = None,
        registration_options: Optional[RegistrationOptions] = None,
        upload_options: Optional[UploadOptions] = None,
        mount_options: Optional[MountOptions] = None,
    ) -> None:
        self.path_on_compute = path_on_compute
        self.registration_options = registration_options
        self.upload_options = upload_options
        self.mount_options = mount_options


class OutputData(Element):
    _element_types = {"output_location": DataLocation, "additional_options": OutputOptions}

    def __init__(
        self,
        output_location: Optional[DataLocation] = None,
        mechanism: str = "mount",
        additional_options: Optional[OutputOptions] = None,
    ) -> None:
        self.output_location = output_location
        self.mechanism = mechanism.lower()
        self.additional_options = additional_options


def _mode(value: str, what: str, allowed: list[str]) -> str:
    if not isinstance(value, str) or value.lower() not in allowed:
        raise UserError(f"{what}={value!r} does not exist. Known: {', '.join(allowed)}.")
    return value.lower()
