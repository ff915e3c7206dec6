"""TabularDataset: rows of delimited, Parquet or JSON-lines files. pandas is loaded when rows are asked for."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

from rookery.errors import DatasetTimestampMissingError, UnsupportedError, UserError
from rookery.sdk.column_filter import Column, Condition
from rookery.sdk.dataset import AbstractDataset
from rookery.sdk.dataset_consumption import DatasetConsumptionConfig
from rookery.sdk.unsupported import later

__all__ = ["TabularDataset"]


class TabularDataset(AbstractDataset):
    @property
    def timestamp_columns(self) -> tuple[Optional[str], Optional[str]]:
        found = self._definition.get("timestamps") or {}
        return found.get("timestamp"), found.get("partition_timestamp")

    def with_timestamp_columns(
        self,
        timestamp: Optional[str] = None,
        partition_timestamp: Optional[str] = None,
        validate: bool = False,
        **kwargs: Any,
    ) -> TabularDataset:
        """Say which columns hold the time of a row; time filters go by them."""
        timestamp = timestamp or kwargs.get("fine_grain_timestamp")
        partition_timestamp = partition_timestamp or kwargs.get("coarse_grain_timestamp")
        given = {"timestamp": timestamp, "partition_timestamp": partition_timestamp}
        made: TabularDataset = self._with(timestamps={k: v for k, v in given.items() if v} or None)
        if validate:
            have = set(made.take(1).to_pandas_dataframe().columns)
            missing = [v for v in given.values() if v and v not in have]
            if missing:
                raise UserError(f"There is no column {', '.join(missing)}. Known: {', '.join(sorted(have))}.")
        return made

    # -- rows

    def to_pandas_dataframe(self, on_error: str = "null", out_of_range_datetime: str = "null") -> Any:
        """All rows as a pandas frame. Needs pandas (`pip install 'rookery[data]'`)."""
        from rookery.sdk.tables import read_frame

        for what, value in (("on_error", on_error), ("out_of_range_datetime", out_of_range_datetime)):
            if value not in ("null", "fail"):
                raise UserError(f"{what}={value!r}. Known: null, fail.")
        return read_frame(self, on_error == "fail")

    def to_dask_dataframe(self, sample_size: int = 10000, dtypes: Any = None, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(
            "to_dask_dataframe is not available. dask.dataframe.from_pandas(ds.to_pandas_dataframe()) is."
        )

    def to_spark_dataframe(self) -> Any:
        raise UnsupportedError("Rookery does not run Spark. Use to_pandas_dataframe.")

    def to_parquet_files(self) -> Any:
        """Its rows as a FileDataset of one Parquet file, on the default datastore."""
        from rookery.sdk.tables import write_rows

        return write_rows(self, "parquet")

    def to_csv_files(self, separator: str = ",") -> Any:
        """Its rows as a FileDataset of one delimited file, on the default datastore."""
        from rookery.sdk.tables import write_rows

        return write_rows(self, "csv", separator)

    def partition_by(
        self,
        partition_keys: Any,
        target: Any,
        name: Optional[str] = None,
        show_progress: bool = True,
        partition_as_file_dataset: bool = False,
    ) -> Any:
        """Its rows, a folder for each combination of values of these columns; a ParallelRunStep takes them by `partition_keys`."""
        from rookery.sdk.partition_by import write_partitions

        return write_partitions(self, partition_keys, target, name, partition_as_file_dataset)

    # -- fewer rows or columns

    def skip(self, count: int) -> TabularDataset:
        return self._step("skip", count=_count(count))

    def take(self, count: int) -> TabularDataset:
        return self._step("take", count=_count(count))

    def take_sample(self, probability: float, seed: Optional[int] = None) -> TabularDataset:
        return self._step("sample", probability=_share(probability), seed=_seed(seed))

    def random_split(self, percentage: float, seed: Optional[int] = None) -> tuple[TabularDataset, TabularDataset]:
        """Two data sets without a common row, about `percentage` (0 to 1) of the rows in the first."""
        share, chosen = _share(percentage), _seed(seed)
        return (
            self._step("split", low=0.0, high=share, seed=chosen),
            self._step("split", low=share, high=1.0, seed=chosen),
        )

    def keep_columns(self, columns: Any, validate: bool = False) -> TabularDataset:
        return self._step("keep_columns", columns=_names(columns))

    def drop_columns(self, columns: Any) -> TabularDataset:
        return self._step("drop_columns", columns=_names(columns))

    def __getitem__(self, key: str) -> Column:
        """A column, for `filter`: ds.filter(ds['age'] > 30)."""
        return Column(key)

    def filter(self, expression: Any) -> TabularDataset:
        if not isinstance(expression, Condition):
            raise UserError("filter takes a condition on columns, such as ds['age'] > 30.")
        return self._step("filter_rows", where=expression.to_plain())

    # -- time

    def time_before(self, end_time: Any, include_boundary: bool = True, validate: bool = True) -> TabularDataset:
        return self._time(before=end_time, include=include_boundary)

    def time_after(self, start_time: Any, include_boundary: bool = True, validate: bool = True) -> TabularDataset:
        return self._time(after=start_time, include=include_boundary)

    def time_between(
        self, start_time: Any, end_time: Any, include_boundary: bool = True, validate: bool = True
    ) -> TabularDataset:
        return self._time(after=start_time, before=end_time, include=include_boundary)

    def time_recent(
        self, time_delta: timedelta, include_boundary: bool = True, validate: bool = True
    ) -> TabularDataset:
        """The rows of the last `time_delta`, counted back from now."""
        return self._time(after=datetime.now(timezone.utc).replace(tzinfo=None) - time_delta, include=include_boundary)

    def _time(self, after: Any = None, before: Any = None, include: bool = True) -> TabularDataset:
        timestamp, partition = self.timestamp_columns
        column = timestamp or partition
        if column is None:
            raise DatasetTimestampMissingError(
                "Time filters need a column of time. Name it: ds.with_timestamp_columns(timestamp='…')."
            )
        values = {"column": column, "after": _moment(after), "before": _moment(before), "include": bool(include)}
        return self._step("time", **{k: v for k, v in values.items() if v is not None})

    # -- for runs

    def as_named_input(self, name: str) -> DatasetConsumptionConfig:
        return DatasetConsumptionConfig(name, self)

    def as_mount(self, path_on_compute: Optional[str] = None) -> DatasetConsumptionConfig:
        """Its files, as they are. The argument becomes the path."""
        return DatasetConsumptionConfig("input_" + self.id[:8], self).as_mount(path_on_compute)

    def as_download(self, path_on_compute: Optional[str] = None) -> DatasetConsumptionConfig:
        return DatasetConsumptionConfig("input_" + self.id[:8], self).as_download(path_on_compute)

    download = later("TabularDataset.download")
    mount = later("TabularDataset.mount")
    submit_profile_run = later("TabularDataset.submit_profile_run")
    get_profile = later("TabularDataset.get_profile", "ds.to_pandas_dataframe().describe() says much of it.")
    get_profile_runs = later("TabularDataset.get_profile_runs")


def _moment(value: Any) -> Optional[str]:
    if value is None:
        return None
    if isinstance(value, str):
        return value
    if not hasattr(value, "isoformat"):
        raise UserError(f"{value!r} is no time. Give a datetime.")
    return str(value.isoformat())


def _names(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else [str(name) for name in columns]


def _count(count: Any) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise UserError(f"count={count!r}. Give a whole number of at least 0.")
    return count


def _share(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
        raise UserError(f"{value!r} is no share. Give a number from 0 to 1.")
    return float(value)


def _seed(seed: Any) -> int:
    return random.randrange(2**31) if seed is None else int(seed)
