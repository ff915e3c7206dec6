"""Names of `azureml.opendatasets`, mapped to data that the workspace has: nothing is fetched from anywhere."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import DatasetNotFoundError, UserError
from rookery.sdk.dataset import AbstractDataset

__all__ = ["MNIST", "Diabetes", "NycTlcGreen", "NycTlcYellow", "OpenDataset"]


class OpenDataset:
    """One name. It stands for the registered data set `names[0]` (or one of its other spellings) of the workspace that is
    meant here: the one of the run, else that of config.json."""

    names: tuple[str, ...] = ()
    time_column: Optional[str] = None
    needs_files = False

    def __init__(
        self, start_date: Any = None, end_date: Any = None, cols: Optional[list[str]] = None, **kwargs: Any
    ) -> None:
        self._start, self._end, self._columns = start_date, end_date, cols

    @classmethod
    def get_file_dataset(cls, dataset_filter: Any = None, **kwargs: Any) -> Any:
        found = _find(cls)
        if found._definition["kind"] != "file":
            raise UserError(f"Data set '{found.name}' is a table, not files. get_tabular_dataset() gives it.")
        return found

    @classmethod
    def get_tabular_dataset(
        cls, start_date: Any = None, end_date: Any = None, cols: Optional[list[str]] = None, **kwargs: Any
    ) -> Any:
        found = _find(cls)
        if found._definition["kind"] != "tabular":
            raise UserError(f"Data set '{found.name}' is one of files, not a table. get_file_dataset() gives it.")
        if (start_date is not None or end_date is not None) and cls.time_column:
            found = found.with_timestamp_columns(timestamp=cls.time_column)
            found = found.time_after(start_date) if start_date is not None else found
            found = found.time_before(end_date) if end_date is not None else found
        return found.keep_columns(cols) if cols else found

    def to_pandas_dataframe(self) -> Any:
        return self.get_tabular_dataset(self._start, self._end, self._columns).to_pandas_dataframe()


class MNIST(OpenDataset):
    names = ("mnist", "MNIST", "mnist-opendataset", "mnist_opendataset")


class Diabetes(OpenDataset):
    names = ("diabetes", "Diabetes", "diabetes-opendataset")


class NycTlcGreen(OpenDataset):
    names = ("nyc_tlc_green", "NycTlcGreen", "nyc-tlc-green")
    time_column = "lpepPickupDatetime"


class NycTlcYellow(OpenDataset):
    names = ("nyc_tlc_yellow", "NycTlcYellow", "nyc-tlc-yellow")
    time_column = "tpepPickupDateTime"


def _find(wanted: type[OpenDataset]) -> Any:
    from rookery.sdk.workspace import Workspace

    workspace = Workspace.from_config()
    for name in wanted.names:
        try:
            return AbstractDataset.get_by_name(workspace, name)
        except DatasetNotFoundError:
            continue
    raise DatasetNotFoundError(
        f"{wanted.__name__} stands for a data set of your own called '{wanted.names[0]}', and workspace '{workspace.name}' has none: "
        f"open data is not fetched from Azure. Register your copy: `rookery data add {wanted.names[0]} PATH`."
    )
