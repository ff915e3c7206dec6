"""Object stores through fsspec: S3, Google Cloud Storage, Azure Blob."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Optional, TypeVar

from rookery.errors import DataError, RookeryError
from rookery.spec.names import check_artifact_name
from rookery.stores.base import Store, StoreFile, StoreWriter
from rookery.stores.scrub import scrub, secret_words

__all__ = ["AZURE", "ObjectStore"]

TRIES = 3
BUSY_TRIES = 6  # of a store that says that it has too much to do
BLOCK = 4 * 1024 * 1024
AZURE = "Azure Blob"
_T = TypeVar("_T")


class ObjectStore(Store):
    """
    Args:
        protocol, options: for fsspec. `options` may hold credentials; they are in no text that leaves here.
        root: bucket (or container), and the prefix in it.
    """

    def __init__(
        self, name: str, kind: str, protocol: str, root: str, options: dict[str, Any], identity: str, extra: str
    ) -> None:
        super().__init__(name, identity)
        self.kind = kind
        self._root = root.strip("/")
        self._secrets = secret_words(options)
        self._fs = _file_system(name, kind, protocol, options, extra, self._secrets)

    def files(self, path: str = "") -> Iterator[StoreFile]:
        whole = self._whole(path)
        single = self.find(path) if path else None
        if single is not None:
            yield single
            return
        found = self._try(lambda: self._find_all(whole), path, "listed")
        if not found and path:
            raise self.not_there(path)
        cut = len(self._root) + 1
        folders: list[tuple[str, Any]] = []
        files: list[tuple[str, Any]] = []
        for full, info in found.items():
            relative = full[cut:]
            if not relative.strip("/"):
                continue
            is_marker = relative.endswith("/") or (info.get("type") == "directory")
            (folders if is_marker else files).append((relative.rstrip("/"), info))
        parents = {name.rpartition("/")[0] for name, _ in [*files, *folders]}
        for relative, info in files:
            _check_key(relative, self.name)
            yield StoreFile(relative, int(info.get("size") or 0), _etag(info))
        for relative, _ in folders:
            if relative not in parents and relative != path:
                _check_key(relative, self.name)
                yield StoreFile(relative, 0, "", is_folder=True)

    def find(self, path: str) -> Optional[StoreFile]:
        info = self._info(path)
        if info is None or info.get("type") == "directory":
            return None
        return StoreFile(path, int(info.get("size") or 0), _etag(info))

    def open(self, path: str, etag: str = "", start: int = 0, size: Optional[int] = None) -> BinaryIO:
        info = self._info(path)
        if info is None or info.get("type") == "directory":
            raise self.not_there(path)
        total = int(info.get("size") or 0)
        if (etag and _etag(info) != etag) or (size is not None and total != size):
            raise self.changed(path)
        return _Reader(self, path, _etag(info), start, total)  # type: ignore[return-value]

    def writer(self, path: str) -> StoreWriter:
        return _ObjectWriter(self, check_artifact_name(path))

    def make_folder(self, path: str) -> None:
        marker = self._whole(check_artifact_name(path)) + "/"
        self._try(lambda: self._fs.pipe_file(marker, b""), path, "made")

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._try(lambda: self._fs.rm_file(self._whole(check_artifact_name(path))), path, "removed")

    def check(self) -> None:
        where = self._root.partition("/")[0]
        try:
            self._try(lambda: list(self._fs.ls(where, detail=False, refresh=True)), "", "listed")
        except FileNotFoundError:
            raise DataError(f"Datastore '{self.name}': there is no bucket or container '{where}'.") from None

    def read_range(self, path: str, start: int, end: int) -> bytes:
        data: bytes = self._try(lambda: self._fs.cat_file(self._whole(path), start=start, end=end), path, "read")
        return data

    def _info(self, path: str) -> Optional[dict[str, Any]]:
        def ask() -> dict[str, Any]:
            self._fs.invalidate_cache()
            return self._fs.info(self._whole(path))

        try:
            return self._try(ask, path, "looked at")
        except FileNotFoundError:
            return None

    def _find_all(self, whole: str) -> dict[str, Any]:
        self._fs.invalidate_cache()
        with contextlib.suppress(FileNotFoundError):
            list_all = _list_blobs if self.kind == AZURE else _list_objects
            found: dict[str, Any] = list_all(self._fs, whole)
            # Below a name that is only the beginning of others there is nothing.
            return {full: info for full, info in found.items() if full.startswith(whole.rstrip("/") + "/")}
        return {}

    def _whole(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def _try(self, act: Callable[[], _T], path: str, verb: str) -> _T:
        n = 0
        while True:
            n += 1
            try:
                return act()
            except (FileNotFoundError, RookeryError):
                raise
            except PermissionError as error:
                words = scrub(error, self._secrets)
                raise DataError(
                    f"{self.shown(path)} may not be {verb}: {words}. Look at the datastore's credentials."
                ) from None
            except Exception as error:  # every library has errors of its own
                if n >= (BUSY_TRIES if _is_busy(error) else TRIES):
                    words = f"{type(error).__name__}: {scrub(error, self._secrets)}"
                    raise DataError(f"{self.shown(path)} cannot be {verb} ({words}). Tried {n} times.") from None
                time.sleep(min(0.1 * 3**n, 10.0))


class _Reader:
    """Reads in blocks; at the end it looks whether the object is still the one that it began with."""

    def __init__(self, store: ObjectStore, path: str, etag: str, start: int, total: int) -> None:
        self._store, self._path, self._etag, self._at, self._total = store, path, etag, start, total
        self._block = b""
        self._checked = False

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            pieces = []
            while piece := self.read(BLOCK):
                pieces.append(piece)
            return b"".join(pieces)
        if not self._block and self._at < self._total:
            end = min(self._at + BLOCK, self._total)
            try:
                self._block = self._store.read_range(self._path, self._at, end)
            except FileNotFoundError:
                raise self._store.changed(self._path) from None
            if len(self._block) != end - self._at:
                raise self._store.changed(self._path)
            if end == self._total:
                self._check()
        data, self._block = self._block[:size], self._block[size:]
        self._at += len(data)
        return data

    def _check(self) -> None:
        found = self._store.find(self._path)
        if found is None or found.etag != self._etag or found.size != self._total:
            raise self._store.changed(self._path)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset if whence == 0 else self._at + offset if whence == 1 else self._total + offset
        self._block = b""
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._block = b""

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _ObjectWriter(StoreWriter):
    """Collects the bytes in a file of this machine and sends them at once: what breaks on the way leaves nothing."""

    def __init__(self, store: ObjectStore, path: str) -> None:
        self._store, self._path = store, path
        handle, self._part = tempfile.mkstemp(prefix="rookery-store-")
        self._file = os.fdopen(handle, "wb")
        self.size = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self.size += len(data)

    def commit(self) -> StoreFile:
        self._file.close()
        store, whole = self._store, self._store._whole(self._path)
        store._try(lambda: store._fs.put_file(self._part, whole), self._path, "written")
        found = store.find(self._path)
        if found is None or found.size != self.size:
            raise store.changed(self._path)
        return found

    def abort(self) -> None:
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._part)


def _file_system(
    name: str, kind: str, protocol: str, options: dict[str, Any], extra: str, secrets: tuple[str, ...]
) -> Any:
    import fsspec

    try:
        if protocol == "gcs":
            # Not the class that goes by the protocol's name: that one asks a second interface of Google's, which other servers lack.
            from gcsfs.core import GCSFileSystem as make
        else:
            make = fsspec.get_filesystem_class(protocol)
        found = make(skip_instance_cache=True, use_listings_cache=False, **options)
        _try_once(found)
        return found
    except ImportError:
        raise DataError(
            f"Datastore '{name}' is {kind}, and what reads it is not installed where the keeper runs. Install it with "
            f"`pip install 'rookery[{extra}]'` and start the keeper again."
        ) from None
    except Exception as error:
        raise DataError(f"Datastore '{name}' ({kind}) cannot be opened: {scrub(error, secrets)}.") from None


def _list_objects(fs: Any, whole: str) -> dict[str, Any]:
    found: dict[str, Any] = fs.find(whole, detail=True, withdirs=False)
    return found


def _list_blobs(fs: Any, whole: str) -> dict[str, Any]:
    """adlfs's own listing takes the slash off the end of names: an empty folder would become an empty file."""
    from fsspec.asyn import sync

    container, _, prefix = whole.partition("/")

    async def listed() -> dict[str, Any]:
        found = {}
        async with fs.service_client.get_container_client(container) as client:
            async for blob in client.list_blobs(
                name_starts_with=f"{prefix}/" if prefix else None, include=["metadata"]
            ):
                is_folder = (blob.metadata or {}).get("hdi_isfolder", "").lower() == "true"
                kind = "directory" if is_folder else "file"
                found[f"{container}/{blob.name}"] = {"size": blob.size, "etag": blob.etag, "type": kind}
        return found

    try:
        answer: dict[str, Any] = sync(fs.loop, listed)
        return answer
    except Exception as error:
        if type(error).__name__ == "ResourceNotFoundError":
            raise FileNotFoundError(container) from None
        raise


def _try_once(found: Any) -> None:
    """Libraries try again by themselves, for minutes and in silence. Here it is done in one place, for all of them, and told."""
    found.retries = 1  # s3fs
    request = getattr(getattr(type(found), "_request", None), "__wrapped__", None)
    if request is not None and type(found).__module__.startswith("gcsfs"):
        found._request = types.MethodType(request, found)
    policy = getattr(getattr(getattr(found, "service_client", None), "_config", None), "retry_policy", None)
    if policy is not None:  # adlfs
        policy.total_retries = 0


def _is_busy(error: Exception) -> bool:
    code = getattr(error, "code", None) or getattr(error, "status_code", None)
    return str(code) in ("429", "500", "502", "503", "504")


def _etag(info: dict[str, Any]) -> str:
    for key in ("ETag", "etag", "md5Hash", "content_md5", "generation", "LastModified", "last_modified", "mtime"):
        value = info.get(key)
        if value:
            return str(value).strip('"')
    return ""


def _check_key(path: str, store: str) -> None:
    """Keys of an object store are any text; as paths they must stay below a folder."""
    if "//" in path or "\\" in path or check_artifact_name(path) != path:
        raise DataError(f"The object {path!r:.200} on datastore '{store}' has a name that is no path of a file.")
