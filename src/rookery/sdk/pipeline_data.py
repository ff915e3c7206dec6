"""What goes from step to step of a pipeline, and values that are given when it is submitted."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.spec.data import DataMode, check_input_name

__all__ = [
    "InputPortBinding",
    "OutputPortBinding",
    "PipelineData",
    "PipelineDataset",
    "PipelineOutput",
    "PipelineParameter",
    "StepOutput",
    "TrainingOutput",
]


class PipelineParameter:
    """A value that a pipeline is submitted with: text, a number, True or False, a DataPath or a data set."""

    def __init__(self, name: str, default_value: Any) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise UserError(f"name={name!r:.80} of a PipelineParameter: give letters, digits and '_', no digit first.")
        self.name, self.default_value = name, default_value

    def __str__(self) -> str:
        return f"PipelineParameter_Name:{self.name}_Default:{self.default_value}"

    def __repr__(self) -> str:
        return f"PipelineParameter(name={self.name!r}, default_value={self.default_value!r})"

    def _as_data_input(self) -> Any:
        """So that a DatasetConsumptionConfig takes it in the place of a data set."""
        return self.default_value


class TrainingOutput:
    """Which part of a training run becomes an output: 'Metrics' or 'Model'."""

    def __init__(
        self, type: str, iteration: Optional[int] = None, metric: Optional[str] = None, model_file: Optional[str] = None
    ) -> None:
        if type not in ("Metrics", "Model"):
            raise UserError(f"type={type!r:.40}. Allowed: Metrics, Model.")
        self.type, self.iteration, self.metric, self.model_file = type, iteration, metric, model_file


class StepOutput:
    """Common to everything that one step writes and others read. `_producer` is set by the step that has it as an output."""

    _producer: Any = None
    _output_name: str = ""


class PipelineData(StepOutput):
    """A folder that one step writes and others read.

    `output_mode` is how it goes to its place: mount (written there, where the node sees it) or upload.
    """

    def __init__(
        self,
        name: str,
        datastore: Any = None,
        output_name: Optional[str] = None,
        output_mode: str = "mount",
        output_path_on_compute: Optional[str] = None,
        output_overwrite: Optional[bool] = None,
        data_type: Optional[str] = None,
        is_directory: Optional[bool] = None,
        pipeline_output_name: Optional[str] = None,
        training_output: Optional[TrainingOutput] = None,
    ) -> None:
        self._name = check_input_name(name, "output")
        self._output_name = check_input_name(output_name or name, "output")
        if output_mode not in (DataMode.MOUNT, DataMode.UPLOAD):
            raise UserError(f"output_mode={output_mode!r:.40}. Allowed: mount, upload.")
        self._datastore, self._data_type = datastore, data_type
        self._mode, self._path_on_compute = output_mode, output_path_on_compute
        self._overwrite, self._is_directory = bool(output_overwrite), is_directory
        self._pipeline_output_name, self._training_output = pipeline_output_name, training_output
        self._register_as = ""

    @property
    def name(self) -> str:
        return self._name

    @property
    def datastore(self) -> Any:
        return self._datastore

    @property
    def data_type(self) -> Optional[str]:
        return self._data_type

    def as_mount(self, input_name: Optional[str] = None) -> InputPortBinding:
        return self.create_input_binding(input_name, "mount")

    def as_download(
        self, input_name: Optional[str] = None, path_on_compute: Optional[str] = None, overwrite: Optional[bool] = None
    ) -> InputPortBinding:
        return self.create_input_binding(input_name, "download", path_on_compute, overwrite)

    def as_input(self, input_name: str) -> InputPortBinding:
        return self.create_input_binding(input_name)

    def create_input_binding(
        self,
        input_name: Optional[str] = None,
        mode: Optional[str] = None,
        path_on_compute: Optional[str] = None,
        overwrite: Optional[bool] = None,
    ) -> InputPortBinding:
        made = InputPortBinding(input_name or self._name, self, mode or "mount", path_on_compute, overwrite)
        made.is_reference = True
        return made

    def get_env_variable_name(self) -> str:
        return f"AZUREML_DATAREFERENCE_{self._name}"

    def as_dataset(self) -> PipelineOutput:
        """As a data set that is made when its step completes."""
        return PipelineOutput(self)

    def _plain_output(self) -> dict[str, Any]:
        """As a node's `outputs` have it."""
        about: dict[str, Any] = {"mode": self._mode, "is_reference": True}
        if self._datastore is not None:
            about["datastore"] = self._datastore.name
        if self._path_on_compute:
            about["source"] = self._path_on_compute
        if self._overwrite:
            about["overwrite"] = True
        if self._register_as:
            about["register_as"] = self._register_as
        if self._pipeline_output_name:
            about["pipeline_output"] = self._pipeline_output_name
        return about

    def __str__(self) -> str:
        return f"${self.get_env_variable_name()}"

    def __repr__(self) -> str:
        return f"PipelineData({self._name!r})"


class InputPortBinding:
    """An output as the input of a step: under which name, and how it comes."""

    def __init__(
        self,
        name: str,
        bind_object: Any = None,
        bind_mode: str = "mount",
        path_on_compute: Optional[str] = None,
        overwrite: Optional[bool] = None,
        is_resource: bool = False,
        additional_transformations: Any = None,
        **kwargs: Any,
    ) -> None:
        self.name = check_input_name(name)
        self.bind_object, self.path_on_compute, self.overwrite = bind_object, path_on_compute, overwrite
        if bind_mode not in DataMode.INPUTS:
            raise UserError(f"bind_mode={bind_mode!r:.40}. Allowed: {', '.join(DataMode.INPUTS)}.")
        self.bind_mode, self.is_resource = bind_mode, is_resource
        self.additional_transformations = additional_transformations
        self.is_reference = False  # the script finds it as a DataReference: AZUREML_DATAREFERENCE_<name>

    @property
    def data_reference_name(self) -> str:
        return self.name

    @property
    def data_type(self) -> Optional[str]:
        return getattr(self.bind_object, "data_type", None)

    def get_bind_object_name(self) -> str:
        return str(getattr(self.bind_object, "name", self.name))

    def as_resource(self) -> InputPortBinding:
        return self

    def as_mount(self, path_on_compute: Optional[str] = None) -> InputPortBinding:
        return InputPortBinding(self.name, self.bind_object, "mount", path_on_compute)

    def as_download(self, path_on_compute: Optional[str] = None) -> InputPortBinding:
        return InputPortBinding(self.name, self.bind_object, "download", path_on_compute)

    def as_direct(self) -> InputPortBinding:
        return InputPortBinding(self.name, self.bind_object, "direct")

    def as_named_input(self, name: str) -> InputPortBinding:
        return InputPortBinding(name, self.bind_object, self.bind_mode, self.path_on_compute)


class OutputPortBinding(PipelineData):
    """v1's older form of PipelineData."""

    def __init__(
        self,
        name: str,
        datastore: Any = None,
        output_name: Optional[str] = None,
        bind_mode: str = "mount",
        path_on_compute: Optional[str] = None,
        is_directory: Optional[bool] = None,
        overwrite: Optional[bool] = None,
        data_type: Optional[str] = None,
        pipeline_output_name: Optional[str] = None,
        training_output: Optional[TrainingOutput] = None,
        dataset_registration: Any = None,
        dataset_output: Any = None,
    ) -> None:
        super().__init__(
            name, datastore, output_name, bind_mode, path_on_compute, overwrite, data_type, is_directory,
            pipeline_output_name, training_output,
        )  # fmt: skip


class PipelineOutput:
    """A PipelineData as a data set (v1's PipelineOutputFileDataset)."""

    def __init__(self, pipeline_data: PipelineData) -> None:
        self._data, self._input_name, self._mode = pipeline_data, pipeline_data.name, "mount"
        self._path_on_compute: Optional[str] = None

    @property
    def name(self) -> str:
        return self._data.name

    @property
    def input_name(self) -> str:
        return self._input_name

    def register(self, name: str, create_new_version: bool = True) -> PipelineOutput:
        """When its step completes it becomes a version of the data set `name`."""
        self._data._register_as = name
        return self

    def as_named_input(self, name: str) -> PipelineOutput:
        return self._copy(_input_name=check_input_name(name))

    def as_mount(self, path_on_compute: Optional[str] = None) -> PipelineOutput:
        return self._copy(_mode="mount", _path_on_compute=path_on_compute)

    def as_download(self, path_on_compute: Optional[str] = None) -> PipelineOutput:
        return self._copy(_mode="download", _path_on_compute=path_on_compute)

    def as_direct(self) -> PipelineOutput:
        return self._copy(_mode="direct")

    def create_input_binding(self) -> InputPortBinding:
        return InputPortBinding(self._input_name, self._data, self._mode, self._path_on_compute)

    def _copy(self, **changes: Any) -> PipelineOutput:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **changes)
        return made


class PipelineDataset:
    """A registered data set as the source of a pipeline."""

    def __init__(
        self,
        dataset: Any = None,
        name: Optional[str] = None,
        bind_mode: str = "mount",
        path_on_compute: Optional[str] = None,
        overwrite: bool = False,
        parameter_name: Optional[str] = None,
    ) -> None:
        self.dataset, self.bind_mode, self.path_on_compute = dataset, bind_mode, path_on_compute
        self.name, self.overwrite, self.parameter_name = name or self.default_name(dataset), overwrite, parameter_name

    @property
    def dataset_id(self) -> str:
        return str(self.dataset.id)

    @property
    def dataset_version(self) -> Optional[int]:
        return None if self.dataset.version is None else int(self.dataset.version)

    @staticmethod
    def default_name(dataset: Any) -> str:
        return str(getattr(dataset, "name", None) or "dataset")

    @staticmethod
    def is_dataset(dset: Any) -> bool:
        return hasattr(dset, "_definition")

    @staticmethod
    def create(dataset: Any, name: Optional[str] = None, parameter_name: Optional[str] = None) -> PipelineDataset:
        return PipelineDataset(dataset, name, parameter_name=parameter_name)
