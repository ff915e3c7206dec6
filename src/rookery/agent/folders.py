"""Folders of a run: ./logs, streamed while it grows, and ./outputs, collected at the end."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator

from rookery.agent.keeper import Keeper
from rookery.agent.logs import LogShipper, Stream
from rookery.agent.small_files import SmallFiles
from rookery.agent.uploads import upload_content
from rookery.agent.watch import Watcher
from rookery.errors import ArtifactNotFoundError, RookeryError
from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

__all__ = ["LogFolders", "collect_folder", "store_file"]


def collect_folder(keeper: Keeper, run_id: str, folder: str, prefix: str, warn: Callable[[str], None]) -> int:
    """Store every file below `folder` as the artifact `prefix/…`; returns how many.

    What cannot be stored is a warning, never an error: a file that vanishes, a link that leads out of the
    folder.
    """
    stored = 0
    small = SmallFiles(keeper, run_id, lambda name, file: store_file(keeper, run_id, name, file, warn))
    for relative, full in _files(folder, prefix, warn):
        name = f"{prefix}/{relative}" if prefix else relative
        if not small.take(name, full):
            stored += store_file(keeper, run_id, name, full, warn)
    small.send()
    return stored + small.stored


def store_file(keeper: Keeper, run_id: str, name: str, file: str, warn: Callable[[str], None]) -> bool:
    """Store one artifact: by its hash where the content is stored already, else by sending it."""
    route = f"/runs/{quote_path(run_id)}/artifacts"
    for _ in range(3):
        try:
            name = check_artifact_name(name)
            digest = _sha256(file)
            try:
                keeper.request("POST", route, body={"name": name, "sha256": digest})
            except ArtifactNotFoundError:
                if upload_content(keeper, digest, file):
                    keeper.request("POST", route, body={"name": name, "sha256": digest})
                else:
                    keeper.upload(f"{route}/{quote_path(name)}", file, digest)
            return True
        except FileNotFoundError:
            warn(f"{name} vanished before it could be stored.")
            return False
        except OSError as error:
            warn(f"{name} could not be read: {error.strerror or error}.")
            return False
        except RookeryError as error:
            problem = error  # a file that changed between hashing and sending has another hash the next time
    warn(f"{name} could not be stored: {problem}")
    return False


class LogFolders:
    """Finds the files below the watched folders and gives them to the log shipper as `logs/<path>`.

    Those of node 1 and above are called `logs/node-1/<path>`: nodes have working folders of their own, and a script writes
    the same names on each.
    """

    def __init__(
        self,
        work: str,
        folders: tuple[str, ...],
        shipper: LogShipper,
        watcher: Watcher,
        bases: dict[str, int],
        sizes: dict[str, int],
        warn: Callable[[str], None],
        node: int = 0,
    ) -> None:
        self._below = f"node-{node}/" if node else ""
        self._work, self._folders, self._shipper, self._watcher = work, folders, shipper, watcher
        self._bases, self._sizes, self._warn = bases, sizes, warn
        self._warned: set[str] = set()
        self.names: set[str] = set()
        self.found: Callable[[str, str], None] = lambda name, path: None  # told of every new file

    def discover(self) -> None:
        for folder in self._folders:
            root = os.path.join(self._work, folder)
            if not os.path.isdir(root):
                continue
            for here, folders, _ in os.walk(root):
                self._watcher.add(here)
                folders.sort()
            for relative, full in _files(root, folder, self._warn_once):
                self._add(f"{folder}/{self._below}{relative}", full)

    def store_rewritten(self, keeper: Keeper, run_id: str) -> None:
        """Files that were written anew, not appended to, are stored whole."""
        for name in sorted(self.names):
            stream = self._shipper.streams[name]
            if stream.was_rewritten() and os.path.exists(stream.path):
                store_file(keeper, run_id, name, stream.path, self._warn)

    def _add(self, name: str, full: str) -> None:
        if name in self._shipper.streams:
            return
        try:
            check_artifact_name(name)
        except RookeryError as error:
            self._warn_once(str(error))
            return
        self.names.add(name)
        self.found(name, full)
        base = self._bases.get(name, 0)
        self._shipper.add(Stream(name, full, base, max(0, self._sizes.get(name, 0) - base)))

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)


def _files(folder: str, shown: str, warn: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """(path inside the folder, path) of every file; links only where they stay inside."""
    real = os.path.realpath(folder)
    if os.path.islink(folder) and not os.path.isdir(folder):
        return
    for here, folders, files in os.walk(folder):
        folders.sort()
        for name in [f for f in folders if os.path.islink(os.path.join(here, f))] + sorted(files):
            full = os.path.join(here, name)
            relative = os.path.relpath(full, folder).replace(os.sep, "/")
            if os.path.islink(full):
                target = os.path.realpath(full)
                if target != real and not target.startswith(real + os.sep):
                    warn(f"{shown}/{relative} is a link that leads out of the folder; it is not stored.")
                    continue
                if os.path.isdir(full):
                    continue  # its files are stored where they are
            if os.path.isfile(full):
                yield relative, full
            elif not os.path.lexists(full):
                warn(f"{shown}/{relative} vanished before it could be stored.")


def _sha256(file: str) -> str:
    digest = hashlib.sha256()
    with open(file, "rb") as f:
        while True:
            data = f.read(1024 * 1024)
            if not data:
                return digest.hexdigest()
            digest.update(data)
