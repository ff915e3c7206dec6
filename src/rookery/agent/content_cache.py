"""Contents by hash on a node that does not see the workspace's: fetched once per machine, the longest unused go first."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from rookery.errors import SnapshotError

if TYPE_CHECKING:
    from rookery.agent.keeper import Keeper

__all__ = ["ContentCache"]

KEPT_S = 600.0  # what was used just now may still be about to be copied


class ContentCache:
    """Promises: a file of the cache is whole and has its hash; it is never handed out to be written to (callers copy).

    Args:
        limit_bytes: what `trim` lets stay; 0 keeps everything.
    """

    def __init__(self, keeper: Keeper, folder: str, limit_bytes: int = 0) -> None:
        self._keeper, self._folder, self._limit_bytes = keeper, folder, limit_bytes

    def get(self, sha256: str) -> str:
        """The path of a content, fetched if it is not here. Touching it makes it the last to go.

        Raises:
            SnapshotError: what came has another hash.
            RookeryError: the keeper does not have it.
        """
        path = self._path(sha256)
        with contextlib.suppress(OSError):
            os.utime(path)
            return path
        self._take(sha256, lambda partial: self._keeper.download(f"/content/{sha256}", partial))
        return path

    def has(self, sha256: str) -> bool:
        return os.path.exists(self._path(sha256))

    def add(self, sha256: str, source: IO[bytes]) -> None:
        """Take a content over from elsewhere.

        Raises:
            SnapshotError: it has another hash.
        """

        def copy(partial: str) -> None:
            with open(partial, "wb") as f:
                shutil.copyfileobj(source, f, 1024 * 1024)

        self._take(sha256, copy)

    def _path(self, sha256: str) -> str:
        return os.path.join(self._folder, sha256[:2], sha256)

    def _take(self, sha256: str, fill: Callable[[str], None]) -> None:
        path = self._path(sha256)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".partial-")
        os.close(handle)
        try:
            fill(partial)
            if _sha256(partial) != sha256:
                raise SnapshotError(
                    f"The content {sha256} came with another hash; a proxy on the way changes what it passes."
                )
            os.replace(partial, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(partial)

    def trim(self) -> int:
        """Remove what was used longest ago until the rest fits; the bytes freed. One agent of the machine does it at a time."""
        if not self._limit_bytes or not os.path.isdir(self._folder):
            return 0
        with open(os.path.join(self._folder, ".lock"), "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return 0
            return self._trim()

    def _trim(self) -> int:
        found, total, freed = [], 0, 0
        for here, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(here, name)
                with contextlib.suppress(OSError):
                    about = os.stat(path)
                    total += about.st_size
                    found.append((about.st_mtime, about.st_size, path))
        now = time.time()
        for used, size, path in sorted(found):
            if total - freed <= self._limit_bytes or now - used < KEPT_S:
                break
            if os.path.basename(path) != ".lock":
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    freed += size
        return freed


def _sha256(file: str) -> str:
    digest = hashlib.sha256()
    with open(file, "rb") as f:
        while True:
            data = f.read(1024 * 1024)
            if not data:
                return digest.hexdigest()
            digest.update(data)
