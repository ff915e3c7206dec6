"""A data set as an input of a run: under which name, and how it comes there."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.dataset import AbstractDataset
from rookery.spec.data import DataMode, check_input_name

__all__ = ["DatasetConsumptionConfig"]


class DatasetConsumptionConfig:
    """What `as_named_input`, `as_mount` and `as_download` give; an argument of a run."""

    def __init__(
        self, name: str, dataset: Any, mode: str = DataMode.DIRECT, path_on_compute: Optional[str] = None
    ) -> None:
        if not isinstance(dataset, AbstractDataset) and not hasattr(dataset, "_as_data_input"):
            raise UserError(
                f"dataset is {type(dataset).__name__}. Give a Dataset, such as Dataset.get_by_name(ws, name)."
            )
        self._name = check_input_name(name)
        self.dataset = dataset
        self.mode = _mode(mode)
        self.path_on_compute = path_on_compute

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_input_name(name)

    @property
    def arg_val(self) -> str:
        return f"DatasetConsumptionConfig:{self._name}"

    def as_download(self, path_on_compute: Optional[str] = None) -> DatasetConsumptionConfig:
        """Copied for the run; the argument becomes the path (of the file itself, where it is one)."""
        return DatasetConsumptionConfig(self._name, self.dataset, DataMode.DOWNLOAD, path_on_compute)

    def as_mount(self, path_on_compute: Optional[str] = None) -> DatasetConsumptionConfig:
        """Linked, or fetched once per machine; the argument becomes the path (of the file itself, where it is one)."""
        return DatasetConsumptionConfig(self._name, self.dataset, DataMode.MOUNT, path_on_compute)

    def as_direct(self) -> DatasetConsumptionConfig:
        return DatasetConsumptionConfig(self._name, self.dataset, DataMode.DIRECT)

    def as_hdfs(self) -> DatasetConsumptionConfig:
        raise UserError("as_hdfs needs Spark, which Rookery does not run. Use as_mount or as_download.")

    def __repr__(self) -> str:
        return f"DatasetConsumptionConfig(name={self._name!r}, mode={self.mode!r}, dataset={self.dataset!r})"


def _mode(mode: Any) -> str:
    if not isinstance(mode, str) or mode.lower() not in DataMode.INPUTS:
        raise UserError(f"mode={mode!r} does not exist. Known: {', '.join(DataMode.INPUTS)}.")
    return mode.lower()
