"""The seam: what every store can do."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO, NamedTuple, Optional

from rookery.errors import DataError

__all__ = ["Store", "StoreFile", "StoreWriter"]


class StoreFile(NamedTuple):
    """One file as the store tells it. `etag` changes when the content does; empty: the store says nothing of the kind."""

    path: str
    size: int
    etag: str
    is_folder: bool = False  # an empty folder; its path has no '/' at the end


class StoreWriter(abc.ABC):
    """A file in the making; as a context manager it leaves nothing behind that was not committed."""

    @abc.abstractmethod
    def write(self, data: bytes) -> None: ...

    @abc.abstractmethod
    def commit(self) -> StoreFile:
        """From now on it is there, whole, in the place of what was there before."""

    @abc.abstractmethod
    def abort(self) -> None: ...

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(
        self, _type: Optional[type[BaseException]], _error: Optional[BaseException], _tb: Optional[TracebackType]
    ) -> None:
        self.abort()


class Store(abc.ABC):
    """Files below one place, by relative paths with '/'.

    Promises: paths never lead out of the place; a file that is written appears whole or not at all; a read gives the whole
    content of one version or raises DataError; words of an error hold no credentials; safe from many threads.
    """

    kind: str = ""
    folder: Optional[str] = None  # absolute path, where it is one

    def __init__(self, name: str, identity: str) -> None:
        self.name = name
        self.identity = identity  # stands for the place in keys of contents: the same wherever it is opened

    @abc.abstractmethod
    def files(self, path: str = "") -> Iterator[StoreFile]:
        """Every file at or below `path`, and the empty folders, in no order.

        Raises:
            DataError: there is nothing at `path`, or something there cannot be part of a data set.
        """

    @abc.abstractmethod
    def find(self, path: str) -> Optional[StoreFile]:
        """The file at `path`; None where there is none."""

    @abc.abstractmethod
    def open(self, path: str, etag: str = "", start: int = 0, size: Optional[int] = None) -> BinaryIO:
        """A file for reading, from byte `start` on.

        Args:
            etag, size: of the version that is wanted; another one is DataError, at once or when the reader comes to it.
        """

    def writer(self, path: str) -> StoreWriter:
        raise self.read_only()

    def make_folder(self, path: str) -> None:
        """An empty folder, as far as the store has such a thing."""
        raise self.read_only()

    def remove(self, path: str) -> None:
        """Removes a file; one that is not there is none."""
        raise self.read_only()

    def check(self) -> None:
        """DataError where it cannot be reached."""
        self.find("rookery-was-here")

    def shown(self, path: str) -> str:
        """A place in words."""
        return f"'{path}' on datastore '{self.name}'" if path else f"datastore '{self.name}'"

    def read_only(self) -> DataError:
        return DataError(f"Datastore '{self.name}' is {self.kind}, which is only read. Write to another one.")

    def not_there(self, path: str) -> DataError:
        return DataError(f"There is no {self.shown(path)}.")

    def changed(self, path: str) -> DataError:
        return DataError(
            f"{self.shown(path)[:1].upper()}{self.shown(path)[1:]} has changed since it was listed. Do it again: it is listed "
            "anew then."
        )
