"""Data on a machine: contents by key, and the trees that show manifests; shared by its runs, the longest unused go first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from typing import IO

from rookery.agent.disk import read_json, write_json

__all__ = ["DataCache"]

KEPT_S = 7 * 86400.0  # a tree that nobody has used for so long goes, whatever there is room for


class DataCache:
    """Promises: a content is whole or absent; a tree that is marked complete is; nothing that a live agent holds goes.

    Args:
        limit_bytes: what `trim` lets contents take; 0 keeps them all.
    """

    def __init__(self, root: str, limit_bytes: int = 0) -> None:
        self.root, self._limit_bytes = root, limit_bytes
        self._trees = os.path.join(root, "trees")
        self._blobs = os.path.join(root, "blobs")

    def tree(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id)

    def blob(self, key: str) -> str:
        return os.path.join(self._blobs, key[:2], key)

    def has_tree(self, manifest_id: str) -> bool:
        return read_json(self._mark(manifest_id)) is not None

    def hold(self, manifest_id: str) -> IO[bytes]:
        """A file that keeps this tree from being removed until it is closed. Any number of agents may hold it."""
        os.makedirs(self._trees, mode=0o700, exist_ok=True)
        held = open(self._lock(manifest_id), "ab")  # noqa: SIM115
        fcntl.flock(held, fcntl.LOCK_SH)
        return held

    @contextlib.contextmanager
    def building(self, manifest_id: str) -> Iterator[None]:
        """Inside it nobody else builds this tree."""
        with open(os.path.join(self._trees, manifest_id + ".build"), "ab") as mine:
            fcntl.flock(mine, fcntl.LOCK_EX)
            yield

    def begin(self, manifest_id: str) -> str:
        """An empty folder for a tree in the making; to be called in `building`."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._mark(manifest_id))
        for path in (self.tree(manifest_id), self._making(manifest_id)):
            shutil.rmtree(path, ignore_errors=True)
        os.makedirs(self._making(manifest_id), mode=0o755)
        return self._making(manifest_id)

    def complete(self, manifest_id: str) -> None:
        """The tree is whole."""
        os.rename(self._making(manifest_id), self.tree(manifest_id))
        self.use(manifest_id)

    def use(self, manifest_id: str) -> None:
        write_json(self._mark(manifest_id), {"used": time.time()})

    def trim(self) -> int:
        """Removes trees that nobody has used for long, then contents used longest ago until the rest fits; the bytes freed."""
        if not os.path.isdir(self.root):
            return 0
        for manifest_id, used in sorted(self._marked(), key=lambda pair: pair[1]):
            if time.time() - used > KEPT_S or (self._limit_bytes and self._size() > self._limit_bytes):
                self._remove(manifest_id)
        return self._trim_blobs()

    def _remove(self, manifest_id: str) -> None:
        with open(self._lock(manifest_id), "ab") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return  # somebody uses it
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._mark(manifest_id))
            shutil.rmtree(self.tree(manifest_id), ignore_errors=True)

    def _trim_blobs(self) -> int:
        freed, total = 0, self._size()
        for used, size, path in sorted(self._contents()):
            if not self._limit_bytes or total - freed <= self._limit_bytes or time.time() - used < 600.0:
                break
            with contextlib.suppress(OSError):
                if os.stat(path).st_nlink == 1:  # in no tree
                    os.unlink(path)
                    freed += size
        return freed

    def _marked(self) -> Iterator[tuple[str, float]]:
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self._trees):
                if name.endswith(".json"):
                    found = read_json(os.path.join(self._trees, name))
                    yield name[:-5], float((found or {}).get("used") or 0)

    def _contents(self) -> Iterator[tuple[float, int, str]]:
        for here, _, names in os.walk(self._blobs):
            for name in names:
                with contextlib.suppress(OSError):
                    about = os.stat(os.path.join(here, name))
                    yield about.st_mtime, about.st_size, os.path.join(here, name)

    def _size(self) -> int:
        return sum(size for _, size, _ in self._contents())

    def _lock(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id + ".lock")

    def _mark(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id + ".json")

    def _making(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id + ".making")
