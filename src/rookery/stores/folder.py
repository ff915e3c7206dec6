"""A folder of the keeper's machine as a store."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO, Optional

from rookery.errors import DataError, PathError
from rookery.spec.names import check_artifact_name
from rookery.stores.base import Store, StoreFile, StoreWriter

__all__ = ["PART", "FolderStore"]

PART = ".rookery-part-"  # begins the names of files that are being written


class FolderStore(Store):
    """etag: the mtime in nanoseconds. Links are followed as far as they stay inside (`follow_links`: anywhere)."""

    kind = "folder"

    def __init__(self, name: str, folder: str, follow_links: bool = False) -> None:
        super().__init__(name, f"folder:{os.path.abspath(folder)}")
        self.folder = os.path.abspath(folder)
        self._real = os.path.realpath(folder)
        self._follow_links = follow_links

    def files(self, path: str = "") -> Iterator[StoreFile]:
        full = self._full(path)
        try:
            about = os.stat(full)
        except FileNotFoundError:
            if os.path.islink(full):
                raise self._broken(path) from None
            if not path:
                raise DataError(f"The folder of datastore '{self.name}' is not there: {self.folder}.") from None
            raise self.not_there(path) from None
        except OSError as error:
            raise self._trouble(path, error) from error
        self._check_inside(full, path)
        if not stat.S_ISDIR(about.st_mode):
            yield self._file(path, about)
            return
        yield from self._walk(full, path + "/" if path else "", (os.path.realpath(full),))

    def find(self, path: str) -> Optional[StoreFile]:
        full = self._full(path)
        try:
            about = os.stat(full)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._trouble(path, error) from error
        self._check_inside(full, path)
        return self._file(path, about) if stat.S_ISREG(about.st_mode) else None

    def open(self, path: str, etag: str = "", start: int = 0, size: Optional[int] = None) -> BinaryIO:
        full = self._full(path)
        self._check_inside(full, path)
        try:
            file = open(full, "rb", buffering=0)  # noqa: SIM115
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise self.not_there(path) from None
        except OSError as error:
            raise self._trouble(path, error) from error
        about = os.fstat(file.fileno())
        if (etag and str(about.st_mtime_ns) != etag) or (size is not None and about.st_size != size):
            file.close()
            raise self.changed(path)
        file.seek(start)
        return _Reader(self, path, file, about)  # type: ignore[return-value]

    def writer(self, path: str) -> StoreWriter:
        full = self._full(check_artifact_name(path))
        try:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            self._check_inside(os.path.dirname(full), path)
            return _FolderWriter(self, path, full)
        except (FileExistsError, NotADirectoryError):
            raise DataError(f"{path!r} cannot be written to datastore '{self.name}': a part of it is a file.") from None
        except OSError as error:
            raise self._trouble(path, error) from error

    def make_folder(self, path: str) -> None:
        full = self._full(check_artifact_name(path))
        try:
            os.makedirs(full, exist_ok=True)
        except OSError as error:
            raise self._trouble(path, error) from error
        self._check_inside(full, path)

    def remove(self, path: str) -> None:
        full = self._full(check_artifact_name(path))
        self._check_inside(os.path.dirname(full), path)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(full)
        except OSError as error:
            raise self._trouble(path, error) from error

    def check(self) -> None:
        if not os.path.isdir(self.folder or ""):
            raise DataError(f"Datastore '{self.name}': {self.folder} is no folder of the keeper's machine.")

    def _full(self, path: str) -> str:
        return os.path.join(str(self.folder), path) if path else str(self.folder)

    def _walk(self, folder: str, prefix: str, above: tuple[str, ...]) -> Iterator[StoreFile]:
        is_empty = True
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError as error:
            raise self._trouble(prefix, error) from error
        for entry in entries:
            if entry.name.startswith(PART):
                continue
            is_empty = False
            path = prefix + entry.name
            if not entry.name.isprintable() or "\\" in entry.name:
                _check_name(path)
            try:
                if entry.is_symlink():
                    yield from self._linked(entry.path, path, above)
                elif entry.is_dir(follow_symlinks=False):
                    yield from self._walk(entry.path, path + "/", above)
                else:
                    yield self._file(path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                raise self.changed(path) from None
            except OSError as error:
                if isinstance(error, DataError):
                    raise
                raise self._trouble(path, error) from error
        if is_empty and prefix:
            yield StoreFile(prefix[:-1], 0, "", is_folder=True)

    def _linked(self, full: str, path: str, above: tuple[str, ...]) -> Iterator[StoreFile]:
        try:
            about = os.stat(full)
        except FileNotFoundError:
            raise self._broken(path) from None
        self._check_inside(full, path)
        if not stat.S_ISDIR(about.st_mode):
            yield self._file(path, about)
            return
        real = os.path.realpath(full)
        if real in above:
            raise DataError(f"{self.shown(path)} is a link to a folder that it lies in itself. Remove the link.")
        yield from self._walk(full, path + "/", (*above, real))

    def _file(self, path: str, about: os.stat_result) -> StoreFile:
        if not stat.S_ISREG(about.st_mode):
            raise DataError(f"{self.shown(path)} is neither file nor folder. Move it elsewhere: it cannot be data.")
        return StoreFile(path, about.st_size, str(about.st_mtime_ns))

    def _check_inside(self, full: str, path: str) -> None:
        if self._follow_links:
            return
        real = os.path.realpath(full)
        if real != self._real and not real.startswith(self._real + os.sep):
            raise PathError(
                f"{path!r} leads out of datastore '{self.name}' through a link. Only what lies in it can be read; register "
                "the other place as a datastore, or this one with follow_links."
            )

    def _broken(self, path: str) -> DataError:
        goal = ""
        with contextlib.suppress(OSError):
            goal = os.readlink(self._full(path))
        return DataError(f"{self.shown(path)} is a link to {goal!r}, which is not there. Mend or remove the link.")

    def _trouble(self, path: str, error: OSError) -> DataError:
        return DataError(f"{self.shown(path)} cannot be used: {error.strerror or error}.")


class _Reader:
    """An open file; before its last piece is handed out it is looked at again: bytes of two versions are never mixed."""

    def __init__(self, store: FolderStore, path: str, file: BinaryIO, about: os.stat_result) -> None:
        self._store, self._path, self._file, self._about = store, path, file, about

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if not data or self._file.tell() >= self._about.st_size:
            now = os.fstat(self._file.fileno())
            if (now.st_size, now.st_mtime_ns) != (self._about.st_size, self._about.st_mtime_ns):
                raise self._store.changed(self._path)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _FolderWriter(StoreWriter):
    def __init__(self, store: FolderStore, path: str, full: str) -> None:
        self._store, self._path, self._full = store, path, full
        self._part = os.path.join(os.path.dirname(full), PART + secrets.token_hex(8))
        self._file: Optional[BinaryIO] = open(self._part, "wb", buffering=0)  # noqa: SIM115

    def write(self, data: bytes) -> None:
        assert self._file is not None
        try:
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise self._store._trouble(self._path, error) from error

    def commit(self) -> StoreFile:
        assert self._file is not None
        about = os.fstat(self._file.fileno())
        self._close()
        try:
            os.replace(self._part, self._full)
        except IsADirectoryError:
            raise DataError(f"{self._store.shown(self._path)} is a folder; a file cannot take its place.") from None
        except OSError as error:
            raise self._store._trouble(self._path, error) from error
        return self._store._file(self._path, about)

    def abort(self) -> None:
        self._close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._part)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _check_name(path: str) -> None:
    """A name from the disk that has something odd: the usual check says what."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"The name {path!r:.200} is not valid UTF-8. Rename it: names of data are text.") from None
    if "\\" in path or check_artifact_name(path) != path:
        raise DataError(f"The name {path!r:.200} holds a backslash or ends oddly. Rename it.")
