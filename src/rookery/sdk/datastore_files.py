"""Files to and from a datastore, through the keeper: small ones many at a time."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional

from rookery.client import FilePart
from rookery.errors import DataError, KeeperUnavailableError, UserError
from rookery.sdk.progress import Progress
from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.datastore_kinds import AbstractStorageDatastore

__all__ = ["download_files", "local_files", "send_pack", "upload_files"]

PACK_BYTES = 4 * 1024 * 1024
PACK_FILES = 2000
SMALL_BYTES = 1024 * 1024
TRIES = 3


def upload_files(
    store: AbstractStorageDatastore,
    root: Optional[str],
    files: Optional[Sequence[str]],
    target: str,
    overwrite: bool,
    show_progress: bool = False,
) -> dict[str, int]:
    """Send the folder `root`, or `files` (below `root`, where one is given). Counts what was sent and what was there.

    Raises:
        UserError: there is no such folder or file; a file lies outside of `root`.
        DataError: a file is a link to nothing, or changes while it is sent.
    """
    found = list(local_files(root, files))
    if not found:
        raise UserError(f"There is no file in {root!r}.")
    client, route = store.workspace.client, f"/datastores/{quote_path(store.name)}/pack"
    counts = send_pack(client, route, found, {"path": target, "overwrite": overwrite})
    if show_progress:
        skipped = f", {counts['skipped']} were there already" if counts["skipped"] else ""
        where = f"{store.name}/{target}" if target else store.name
        sys.stderr.write(f"Uploaded {counts['files']} files ({counts['bytes']:,} bytes) to {where}{skipped}.\n")
    return counts


def send_pack(client: Any, route: str, files: Sequence[tuple[str, str]], query: dict[str, Any]) -> dict[str, int]:
    """(path, file on disk) to a route that takes packs; a path that ends with '/' is an empty folder."""
    totals = {"files": 0, "skipped": 0, "bytes": 0}

    def send(data: bytes) -> None:
        if data:
            _add(totals, _try(lambda: client.request("POST", route, query, body=data)))

    pack, count = io.BytesIO(), 0
    with Progress("Uploading", sum(os.path.getsize(full) for path, full in files if not path.endswith("/"))) as bar:
        for path, full in files:
            size = 0 if path.endswith("/") else os.path.getsize(full)
            if size > SMALL_BYTES:
                _add(totals, _try(lambda: _send_large(client, route, query, path, full)))  # noqa: B023
            else:
                pack.write(_small(path, full))
                count += 1
                if pack.tell() >= PACK_BYTES or count >= PACK_FILES:
                    send(pack.getvalue())
                    pack, count = io.BytesIO(), 0
            bar.add(size)
        send(pack.getvalue())
    return totals


def local_files(root: Optional[str], files: Optional[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """(path below the target, path on disk), sorted."""
    if files is None:
        folder = os.path.abspath(os.path.expanduser(os.fspath(root or ".")))
        if not os.path.isdir(folder):
            raise UserError(f"There is no folder {root!r} (looked from {os.getcwd()}).")
        yield from _walk(folder)
        return
    base = os.path.abspath(os.path.expanduser(root)) if root else None
    seen: dict[str, str] = {}
    for file in files:
        full = os.path.abspath(os.path.expanduser(os.fspath(file)))
        if not os.path.isfile(full):
            raise UserError(f"There is no file {os.fspath(file)!r} (looked from {os.getcwd()}).")
        relative = os.path.relpath(full, base) if base else os.path.basename(full)
        if relative.split(os.sep)[0] == os.pardir:
            raise UserError(f"{os.fspath(file)!r} is outside of relative_root {root!r}.")
        path = check_artifact_name(relative.replace(os.sep, "/"))
        if seen.setdefault(path, full) != full:
            raise UserError(f"Two files would be called '{path}'. Give relative_root, so that they keep their folders.")
    yield from sorted(seen.items())


def download_files(store: AbstractStorageDatastore, target: str, prefix: str, overwrite: bool) -> int:
    """Fetch every file at or below `prefix` into `target`, under its path on the store; how many came."""
    from rookery.sdk.data_delivery import fetch_tree, resolve, save_definition

    definition = {"kind": "file", "sources": [{"datastore": store.name, "path": prefix}]}
    manifest = resolve(store.workspace.client, save_definition(store.workspace.client, definition))
    base = os.path.dirname(prefix) if manifest.is_single else prefix
    folder = os.path.join(os.fspath(target), base) if base else os.fspath(target)
    return len(fetch_tree(store.workspace.client, manifest, folder, overwrite=overwrite, skip=not overwrite))


def _walk(folder: str) -> Iterator[tuple[str, str]]:
    for here, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        relative = os.path.relpath(here, folder).replace(os.sep, "/")
        if here.count(os.sep) - folder.count(os.sep) > 200:
            raise DataError(f"{here!r} lies very deep; a link leads in a circle.")
        prefix = "" if relative == "." else relative + "/"
        if prefix and not folders and not names:
            yield check_artifact_name(relative) + "/", here
        for name in sorted(names):
            full = os.path.join(here, name)
            if not os.path.exists(full):
                raise DataError(f"{full!r} is a link to {_goal(full)!r}, which is not there. Mend or remove the link.")
            if not os.path.isfile(full):
                raise DataError(f"{full!r} is neither file nor folder. It cannot be sent.")
            if "\\" in name:
                raise DataError(f"{full!r} has a backslash in its name. Rename it.")
            yield check_artifact_name(prefix + name), full


def _small(path: str, full: str) -> bytes:
    if path.endswith("/"):
        return _line(path, 0)
    try:
        with open(full, "rb") as f:
            data = f.read()
    except OSError as error:
        raise DataError(f"{full!r} cannot be read: {error.strerror or error}.") from error
    return _line(path, len(data)) + data


def _send_large(client: Any, route: str, query: dict[str, Any], path: str, full: str) -> Any:
    with open(full, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        return client.post(route, _LargePart(_line(path, size), f, size), query)


class _LargePart(FilePart):
    """A line, then a file."""

    def __init__(self, line: bytes, file: Any, size: int) -> None:
        super().__init__(file, size)
        self._line, self._told = line, False
        self.size = size + len(line)
        self._file_part = FilePart(file, size)

    def read(self, size: int = -1) -> bytes:
        if not self._told:
            self._told = True
            return self._line
        return self._file_part.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if offset or whence != os.SEEK_SET:
            raise OSError("only from the beginning")
        self._told = False
        return self._file_part.seek(0)

    def tell(self) -> int:
        return 0


def _line(path: str, size: int) -> bytes:
    return json.dumps({"path": path, "size": size}).encode("ascii") + b"\n"


def _try(send: Any) -> Any:
    """Again after a lost connection: what has arrived is there whole, and is left alone or written anew."""
    for n in range(1, TRIES + 1):
        try:
            return send()
        except KeeperUnavailableError:
            if n == TRIES:
                raise
    raise AssertionError("unreachable")


def _add(totals: dict[str, int], told: dict[str, int]) -> None:
    for name in totals:
        totals[name] += int(told.get(name) or 0)


def _goal(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return "?"
