"""What a run writes, as data: where it goes, whether it becomes a version of a data set, how it is read afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Optional

from rookery.errors import UnsupportedError, UserError
from rookery.sdk.data_reference import DataPath, DataReference
from rookery.sdk.data_types import DataType, PromoteHeadersBehavior
from rookery.sdk.filters import texts
from rookery.spec.data import DEFAULT_OUTPUT_PATH, DataMode, DataOutput, check_input_name

__all__ = [
    "HDFSOutputDatasetConfig",
    "LinkFileOutputDatasetConfig",
    "LinkTabularOutputDatasetConfig",
    "MountOptions",
    "OutputDatasetConfig",
    "OutputFileDatasetConfig",
    "OutputTabularDatasetConfig",
    "RegistrationConfiguration",
    "TransformationMixin",
    "UploadOptions",
]


class UploadOptions:
    def __init__(self, overwrite: bool = False, source_globs: Optional[Sequence[str]] = None) -> None:
        self.overwrite, self.source_globs = overwrite, source_globs


class MountOptions:
    def __init__(self, disable_metadata_cache: bool = False) -> None:
        self.disable_metadata_cache = disable_metadata_cache


class RegistrationConfiguration:
    def __init__(self, name: str, description: Optional[str], tags: Optional[dict[str, Any]]) -> None:
        self.name, self.description, self.tags = name, description, tags


class OutputDatasetConfig:
    """One output of a run: an argument that becomes the folder to write to."""

    def __init__(self, mode: str, name: Optional[str] = None, **kwargs: Any) -> None:
        self.mode = mode
        self._name = check_input_name(name if name is not None else f"output_{uuid.uuid4().hex[:8]}", "output")
        self.destination: Any = None
        self.source: Optional[str] = None
        self._registration: Optional[RegistrationConfiguration] = None
        self._upload_options: Optional[UploadOptions] = None
        self._definition: dict[str, Any] = {}
        self._origin: dict[str, Any] = {}  # shared by all forms of one output: the step of a pipeline that has it

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_input_name(name, "output")

    @property
    def arg_val(self) -> str:
        return f"DatasetOutputConfig:{self._name}"

    def register_on_complete(
        self, name: str, description: Optional[str] = None, tags: Optional[dict[str, Any]] = None
    ) -> Any:
        """When the run has completed, what it wrote becomes a version of the data set `name`."""
        made = self._copy()
        made._registration = RegistrationConfiguration(name, description, tags)
        return made

    def as_input(self, name: Optional[str] = None) -> Any:
        """As the input of another step of a pipeline; `.as_mount()` or `.as_download()` say how it comes."""
        from rookery.sdk.pipeline_data import InputPortBinding

        return InputPortBinding(name or self._name, self)

    @property
    def _producer(self) -> Any:
        """The step of a pipeline that writes it."""
        return self._origin.get("step")

    @_producer.setter
    def _producer(self, step: Any) -> None:
        self._origin["step"] = step

    def _copy(self) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _definition=dict(self._definition))
        return made

    def to_data_output(self) -> DataOutput:
        """As a RunSpec has it."""
        store, path = _destination(self.destination)
        options = self._upload_options or UploadOptions()
        registration = self._registration
        return DataOutput(
            name=self._name,
            mode=self.mode,
            datastore=store,
            path=path,
            source=self.source or "",
            globs=tuple(options.source_globs or ()),
            overwrite=bool(options.overwrite),
            register_as=registration.name if registration else "",
            description=(registration.description or "") if registration else "",
            tags=_tags(registration.tags if registration else None),
            definition=dict(self._definition),
        )


class TransformationMixin:
    """How an output is read once it is there."""

    def read_delimited_files(
        self,
        include_path: bool = False,
        separator: str = ",",
        header: Any = PromoteHeadersBehavior.ALL_FILES_HAVE_SAME_HEADERS,
        partition_format: Optional[str] = None,
        path_glob: Optional[str] = None,
        set_column_types: Optional[dict[str, DataType]] = None,
    ) -> Any:
        """As a table of delimited files."""
        from rookery.sdk.dataset_factory import _header

        form = {"type": "delimited", "separator": separator, "header": _header(header)}
        return _as_table(self, form, include_path, partition_format, path_glob, set_column_types)

    def read_parquet_files(
        self,
        include_path: bool = False,
        partition_format: Optional[str] = None,
        path_glob: Optional[str] = None,
        set_column_types: Optional[dict[str, DataType]] = None,
    ) -> Any:
        """As a table of Parquet files."""
        return _as_table(self, {"type": "parquet"}, include_path, partition_format, path_glob, set_column_types)


class OutputFileDatasetConfig(OutputDatasetConfig, TransformationMixin):
    """Files that a run writes.

    Args:
        destination: (datastore, path); the path may hold {run-id} and {output-name}. None: the default datastore,
            dataset/{run-id}/{output-name}.
        source: the folder that the script writes to. None: one that is made for it.
    """

    def __init__(
        self,
        name: Optional[str] = None,
        destination: Any = None,
        source: Optional[str] = None,
        partition_format: Optional[str] = None,
    ) -> None:
        super().__init__(DataMode.MOUNT, name)
        _destination(destination)
        self.destination, self.source = destination, source
        if partition_format:
            self._definition["partition_format"] = partition_format

    def as_mount(self, disable_metadata_cache: bool = False) -> OutputFileDatasetConfig:
        """Written where it is to be, where the node sees that; else sent at the end."""
        made: OutputFileDatasetConfig = self._copy()
        made.mode, made._upload_options = DataMode.MOUNT, None
        return made

    def as_upload(
        self, overwrite: bool = False, source_globs: Optional[Sequence[str]] = None
    ) -> OutputFileDatasetConfig:
        """Sent when the run has completed; `source_globs` choose which of its files."""
        made: OutputFileDatasetConfig = self._copy()
        made.mode = DataMode.UPLOAD
        made._upload_options = UploadOptions(overwrite, list(source_globs or ()) or None)
        return made


class OutputTabularDatasetConfig(OutputDatasetConfig):
    """An output that is read as a table: what read_delimited_files and read_parquet_files give."""

    def __init__(self, **kwargs: Any) -> None:
        raise UserError("OutputTabularDatasetConfig comes from OutputFileDatasetConfig(…).read_delimited_files().")

    def keep_columns(self, columns: Any) -> OutputTabularDatasetConfig:
        return self._step("keep_columns", columns)

    def drop_columns(self, columns: Any) -> OutputTabularDatasetConfig:
        return self._step("drop_columns", columns)

    def random_split(self, percentage: float, seed: Optional[int] = None) -> Any:
        raise UnsupportedError("Split the registered data set: Dataset.get_by_name(…).random_split(…).")

    as_mount = OutputFileDatasetConfig.as_mount
    as_upload = OutputFileDatasetConfig.as_upload

    def _step(self, op: str, columns: Any) -> OutputTabularDatasetConfig:
        made: OutputTabularDatasetConfig = self._copy()
        names = [columns] if isinstance(columns, str) else list(columns)
        made._definition["steps"] = [*made._definition.get("steps", ()), {"op": op, "columns": names}]
        return made


class _Elsewhere(OutputDatasetConfig):
    def __init__(self, name: Optional[str] = None, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedError(f"{type(self).__name__} is not available. Use OutputFileDatasetConfig.")


class HDFSOutputDatasetConfig(_Elsewhere):
    """Of Spark."""


class LinkFileOutputDatasetConfig(_Elsewhere):
    """An existing data set as an output."""


class LinkTabularOutputDatasetConfig(_Elsewhere):
    """An existing data set as an output."""


def _as_table(
    output: Any,
    form: dict[str, Any],
    include_path: bool,
    partition_format: Optional[str],
    path_glob: Optional[str],
    types: Optional[dict[str, DataType]],
) -> OutputTabularDatasetConfig:
    if include_path:
        form["include_path"] = True
    if types:
        form["types"] = {name: given.to_plain() for name, given in types.items()}
    made: OutputTabularDatasetConfig = object.__new__(OutputTabularDatasetConfig)
    definition = {**output._definition, "kind": "tabular", "format": form}
    if partition_format:
        definition["partition_format"] = partition_format
    if path_glob:
        definition["path_glob"] = path_glob
    made.__dict__.update(output.__dict__, _definition=definition)
    return made


def _destination(destination: Any) -> tuple[str, str]:
    """(name of the datastore, empty for the default one; path)."""
    if destination is None:
        return "", DEFAULT_OUTPUT_PATH
    if isinstance(destination, (DataReference, DataPath)):
        return destination.datastore.name, destination.path_on_datastore or DEFAULT_OUTPUT_PATH
    if isinstance(destination, (tuple, list)) and len(destination) == 2 and hasattr(destination[0], "datastore_type"):
        return destination[0].name, str(destination[1] or DEFAULT_OUTPUT_PATH).strip("/")
    if hasattr(destination, "datastore_type"):
        return destination.name, DEFAULT_OUTPUT_PATH
    raise UserError(
        f"destination is {destination!r:.200}. Give (datastore, 'path'), such as (ds, 'results/{{run-id}}')."
    )


def _tags(tags: Optional[dict[str, Any]]) -> dict[str, str]:
    return {str(k): str(v) for k, v in (texts(tags) or {}).items()}
