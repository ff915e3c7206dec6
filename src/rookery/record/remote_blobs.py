"""Blobs in an object store or any other file system that fsspec knows, by URL."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any, BinaryIO, TypeVar

from rookery.errors import ConfigError, RookeryError, StorageError

__all__ = ["RemoteBlobs"]

TRIES = 4
# What a reader holds at most: the libraries' own block size is 50 MB, for every download at a time.
BLOCK = 4 * 1024 * 1024
_T = TypeVar("_T")


class RemoteBlobs:
    """Promises: a file goes up and comes down in pieces; what may pass is tried again; an error is StorageError."""

    def __init__(self, url: str) -> None:
        import fsspec

        self.url = url.rstrip("/")
        try:
            self._fs, self._root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"Artifacts cannot be kept at {self.url}: {error}. Install what it needs (for s3:// "
                "`pip install 'rookery[s3]'`), or name a folder."
            ) from error

    def put(self, path: str, sha256: str) -> None:
        """Stores the local file; it is there completely or not at all, as object stores do it."""
        target = self._path(sha256)

        def send() -> None:
            try:
                self._fs.put_file(path, target)
            except FileNotFoundError:  # a file system with folders
                self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._fs.put_file(path, target)

        self._try(send, "stored")

    def open(self, sha256: str) -> BinaryIO:
        """
        Raises:
            FileNotFoundError: it is not there.
        """
        return self._try(lambda: self._fs.open(self._path(sha256), "rb", block_size=BLOCK), "read")

    def remove(self, sha256: str) -> None:
        self._try(lambda: self._fs.rm_file(self._path(sha256)), "removed")

    def modified(self, sha256: str) -> float:
        return self._try(lambda: _time(self._fs.info(self._path(sha256))), "looked at")

    def files(self) -> Iterator[tuple[str, int, float]]:
        """(name, size, time in unix seconds) of everything that lies where blobs lie."""
        with contextlib.suppress(FileNotFoundError):
            self._fs.invalidate_cache()
            found = self._try(lambda: self._fs.find(self._root, detail=True), "listed")
            for path, info in found.items():
                yield path.rpartition("/")[2], int(info.get("size") or 0), _time(info)

    def _path(self, sha256: str) -> str:
        return f"{self._root}/{sha256[:2]}/{sha256}"

    def _try(self, act: Callable[[], _T], verb: str) -> _T:
        for n in range(1, TRIES + 1):
            try:
                return act()
            except (FileNotFoundError, RookeryError):
                raise
            except PermissionError as error:
                raise StorageError(
                    f"A file may not be {verb} at {self.url}: {error}. Look at the keeper's rights there.", error
                ) from error
            except Exception as error:  # every library has errors of its own
                if n == TRIES:
                    raise StorageError(
                        f"A file cannot be {verb} at {self.url} ({type(error).__name__}: {str(error)[:300]}). Tried {TRIES} times.",
                        error,
                    ) from error
                time.sleep(0.2 * 2**n)
        raise AssertionError("unreachable")


def _time(info: dict[str, Any]) -> float:
    """When it was written, under whichever name the file system says it; now, where it does not."""
    for key in ("LastModified", "mtime", "created", "last_modified", "updated"):
        value = info.get(key)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
        if isinstance(value, (int, float)):
            return float(value)
    return time.time()
