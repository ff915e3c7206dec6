"""FileDataset: files as they are."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import tempfile
from typing import Any, Optional

from rookery.errors import DataError, UnsupportedError, UserError
from rookery.sdk.data_delivery import fetch_tree, resolve
from rookery.sdk.dataset import AbstractDataset
from rookery.sdk.dataset_consumption import DatasetConsumptionConfig

__all__ = ["FileDataset", "MountContext"]


class FileDataset(AbstractDataset):
    """Files of datastores or of the web."""

    def to_path(self) -> list[str]:
        """The paths of its files in it, each with a '/' in front, sorted."""
        return ["/" + entry.path for entry in self._manifest().entries if not entry.is_folder]

    def download(
        self, target_path: Optional[str] = None, overwrite: bool = False, ignore_not_found: bool = False
    ) -> list[str]:
        """Copy its files below a folder (a new temporary one, where none is given); their paths there.

        Raises:
            DataError: a file is there already and overwrite is not set, or the data cannot be had.
        """
        try:
            manifest = self._manifest()
        except DataError:
            if ignore_not_found:
                return []
            raise
        target = os.path.abspath(target_path) if target_path else tempfile.mkdtemp(prefix="rookery-data-")
        return fetch_tree(self._workspace().client, manifest, target, overwrite)

    def mount(self, mount_point: Optional[str] = None, **kwargs: Any) -> MountContext:
        """Its files below a folder without copying what lies on this machine: a context manager, or `start()` and `stop()`."""
        return MountContext(self, mount_point)

    def as_mount(self, path_on_compute: Optional[str] = None) -> DatasetConsumptionConfig:
        """As an input of a run, linked or fetched once per machine; the argument becomes its path there."""
        return DatasetConsumptionConfig(_auto_name(self), self).as_mount(path_on_compute)

    def as_download(self, path_on_compute: Optional[str] = None) -> DatasetConsumptionConfig:
        """As an input of a run, copied for it."""
        return DatasetConsumptionConfig(_auto_name(self), self).as_download(path_on_compute)

    def as_hdfs(self) -> DatasetConsumptionConfig:
        raise UnsupportedError("as_hdfs needs Spark, which Rookery does not run. Use as_mount or as_download.")

    def skip(self, count: int) -> FileDataset:
        """Without the first `count` files, in order of their paths."""
        return self._step("skip", count=_count(count))

    def take(self, count: int) -> FileDataset:
        """The first `count` files, in order of their paths."""
        return self._step("take", count=_count(count))

    def take_sample(self, probability: float, seed: Optional[int] = None) -> FileDataset:
        """Each file with this probability; the same seed gives the same files."""
        return self._step("sample", probability=_share(probability), seed=_seed(seed))

    def random_split(self, percentage: float, seed: Optional[int] = None) -> tuple[FileDataset, FileDataset]:
        """Two data sets without a common file, about `percentage` (0 to 1) of them in the first."""
        share, chosen = _share(percentage), _seed(seed)
        return (
            self._step("split", low=0.0, high=share, seed=chosen),
            self._step("split", low=share, high=1.0, seed=chosen),
        )

    def file_metadata(self, col: str) -> Any:
        raise UnsupportedError("FileDataset.file_metadata is not available. Give a glob to from_files instead.")

    def filter(self, expression: Any) -> Any:
        raise UnsupportedError("FileDataset.filter is not available. Give a glob to from_files instead.")

    def as_cache(self, datacache_store: Any) -> Any:
        raise UnsupportedError("Data caches of v1 do not exist here: every machine keeps what it has fetched.")

    hydrate = as_cache


class MountContext:
    """A folder that shows a data set from `start()` to `stop()`, which removes it."""

    def __init__(self, dataset: FileDataset, mount_point: Optional[str]) -> None:
        self._dataset = dataset
        self._given = mount_point
        self._made = False
        self.mount_point = os.path.abspath(mount_point) if mount_point else tempfile.mkdtemp(prefix="rookery-mount-")
        if not mount_point:
            # Whoever never stops it, or never starts it, leaves nothing behind all the same.
            atexit.register(_remove_own, self.mount_point, os.getpid())

    def start(self) -> None:
        if os.path.isdir(self.mount_point) and os.listdir(self.mount_point):
            raise DataError(f"{self.mount_point!r} is not empty. Mount into a new folder.")
        client = self._dataset._workspace().client
        fetch_tree(client, resolve(client, self._dataset._save()), self.mount_point, link=True)
        self._made = True

    def stop(self) -> None:
        """Takes it away; nothing of the data goes."""
        if self._made:
            shutil.rmtree(self.mount_point, ignore_errors=True)
            self._made = False

    def __enter__(self) -> MountContext:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __str__(self) -> str:
        return self.mount_point

    __fspath__ = __str__


def _remove_own(folder: str, pid: int) -> None:
    if os.getpid() == pid:  # not a child that was forked, and leaves sooner
        shutil.rmtree(folder, ignore_errors=True)


def _auto_name(dataset: AbstractDataset) -> str:
    return "input_" + dataset.id[:8]


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
