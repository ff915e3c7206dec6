"""A definition's files on this machine: resolved by the keeper, then linked or copied where they lie, or fetched."""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import Any, Optional

from rookery.errors import DataError, KeeperUnavailableError, ServiceError, StorageError
from rookery.sdk.progress import CountedWriter, Progress
from rookery.spec.manifest import Entry, Manifest, manifest_from_plain
from rookery.spec.names import check_artifact_name
from rookery.worker.copying import copy_file

__all__ = ["fetch_tree", "local_path", "resolve", "save_definition"]

TOGETHER_BYTES = 16 * 1024 * 1024
TOGETHER_FILES = 5000
SMALL_BYTES = 1024 * 1024
RESOLVE_S = 3600.0


def save_definition(client: Any, definition: dict[str, Any]) -> str:
    """Its id at the keeper."""
    return str(client.request("POST", "/data/definitions", body={"definition": definition})["id"])


def resolve(client: Any, definition_id: str) -> Manifest:
    """What it comes to now.

    Raises:
        DataError: a source is not there, or changes while it is looked at.
    """
    head = client.request("POST", f"/data/definitions/{definition_id}/resolve", timeout_s=RESOLVE_S)
    return manifest_from_plain(client.request("GET", f"/data/manifests/{head['id']}", timeout_s=RESOLVE_S))


def local_path(manifest: Manifest, entry: Entry) -> Optional[str]:
    """Where a file lies on this machine, if it is the very one that the manifest means."""
    folder = manifest.stores[entry.store].folder
    if not folder or entry.is_folder:
        return None
    path = os.path.join(folder, entry.place)
    try:
        about = os.stat(path)
    except OSError:
        return None
    return path if (about.st_size, str(about.st_mtime_ns)) == (entry.size, entry.etag) else None


def fetch_tree(
    client: Any, manifest: Manifest, target: str, overwrite: bool = False, skip: bool = False, link: bool = False
) -> list[str]:
    """The files of a manifest below the folder `target`; their paths there. Each appears whole.

    Args:
        overwrite: replace files that are there; else they are an error, or (`skip`) are left alone and not listed.
        link: files that lie on this machine are linked instead of copied (hard links, else symbolic ones).
    """
    made: list[str] = []
    waiting: list[tuple[int, Entry, str]] = []
    folders: set[str] = set()
    try:
        os.makedirs(target, exist_ok=True)
        for index, entry in enumerate(manifest.entries):
            path = os.path.join(target, *check_artifact_name(entry.path.rstrip("/")).split("/"))
            if entry.is_folder:
                os.makedirs(path, exist_ok=True)
                continue
            folder = os.path.dirname(path)
            if folder not in folders:  # a hundred thousand files lie in a few folders
                os.makedirs(folder, exist_ok=True)
                folders.add(folder)
            if os.path.lexists(path):
                if not overwrite and skip:
                    continue
                if not overwrite:
                    raise DataError(f"{path!r} exists. Give overwrite=True to replace it, or another target_path.")
                if link:
                    os.unlink(path)
            made.append(path)
            source = local_path(manifest, entry)
            if source is None:
                waiting.append((index, entry, path))
            elif link:
                _link(source, path)
            else:
                _place(source, path)
        _fetch(client, manifest, waiting)
    except OSError as error:
        if isinstance(error, (DataError, StorageError, KeeperUnavailableError)):
            raise
        raise StorageError(f"Data cannot be written to {target!r}: {error.strerror or error}.") from error
    return made


def _link(source: str, path: str) -> None:
    try:
        os.link(source, path)
    except OSError:  # another file system, or somebody else's file
        os.symlink(os.path.realpath(source), path)


def _place(source: str, path: str) -> None:
    partial = _partial(path)
    try:
        copy_file(source, partial)
        os.replace(partial, path)
    finally:
        _remove(partial)


def _fetch(client: Any, manifest: Manifest, waiting: list[tuple[int, Entry, str]]) -> None:
    with Progress("Downloading", sum(entry.size for _, entry, _ in waiting)) as bar:
        group: list[tuple[int, Entry, str]] = []
        for item in waiting:
            if item[1].size > SMALL_BYTES:
                _fetch_one(client, manifest, item, bar)
                continue
            # Only neighbours in the manifest can be asked for together.
            is_next = not group or item[0] == group[-1][0] + 1
            if not is_next or len(group) >= TOGETHER_FILES or sum(e.size for _, e, _ in group) > TOGETHER_BYTES:
                _fetch_group(client, manifest, group, bar)
                group = []
            group.append(item)
        _fetch_group(client, manifest, group, bar)


def _fetch_group(client: Any, manifest: Manifest, group: list[tuple[int, Entry, str]], bar: Progress) -> None:
    if not group:
        return
    splitter = _Splitter(manifest, group, bar)
    query = {"first": group[0][0], "count": len(group)}
    try:
        client.download(f"/data/manifests/{manifest.id}/bytes", splitter, query)
    except (KeeperUnavailableError, ServiceError):
        pass  # it was cut off: the file that it broke at says why when it is asked for by itself
    finally:
        splitter.close()
    for item in group[splitter.done :]:
        _fetch_one(client, manifest, item, bar)


def _fetch_one(client: Any, manifest: Manifest, item: tuple[int, Entry, str], bar: Progress) -> None:
    index, entry, path = item
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = _partial(path)
    try:
        with open(partial, "wb") as file:
            client.download(f"/data/manifests/{manifest.id}/files/{index}", CountedWriter(file, bar))
        _check(manifest, entry, os.path.getsize(partial), _hash(partial) if manifest.hashed else "")
        os.replace(partial, path)
    finally:
        _remove(partial)


class _Splitter:
    """Takes the bytes of many files one after the other and makes the files of them."""

    def __init__(self, manifest: Manifest, group: list[tuple[int, Entry, str]], bar: Progress) -> None:
        self._manifest, self._group, self._bar = manifest, group, bar
        self._buffer = bytearray()
        self.done = 0

    def write(self, data: bytes) -> int:
        self._buffer += data
        self._take()
        return len(data)

    def _take(self) -> None:
        at = 0
        while self.done < len(self._group):
            _, entry, path = self._group[self.done]
            if len(self._buffer) - at < entry.size:
                break
            content = bytes(self._buffer[at : at + entry.size])
            at += entry.size
            digest = hashlib.sha256(content).hexdigest() if self._manifest.hashed else ""
            _check(self._manifest, entry, len(content), digest)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            partial = _partial(path)
            try:
                with open(partial, "wb") as file:
                    file.write(content)
                os.replace(partial, path)
            finally:
                _remove(partial)
            self._bar.add(entry.size)
            self.done += 1
        del self._buffer[:at]

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """Empty files at the end of a group have no bytes that would bring them."""
        if not self._buffer:
            while self.done < len(self._group) and self._group[self.done][1].size == 0:
                self._take()


def _check(manifest: Manifest, entry: Entry, size: int, digest: str) -> None:
    if size != entry.size or (manifest.hashed and digest != entry.key):
        raise DataError(f"'{entry.path}' came with other bytes than it has. It changed on the way; try again.")


def _hash(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1024 * 1024):
            digest.update(chunk)
    return digest.hexdigest()


def _partial(path: str) -> str:
    return os.path.join(os.path.dirname(path), f".rookery-part-{os.getpid()}-{os.path.basename(path)[:100]}")


def _remove(path: str) -> None:
    if os.path.lexists(path):
        (os.unlink if not os.path.isdir(path) or os.path.islink(path) else shutil.rmtree)(path)
