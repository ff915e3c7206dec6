"""The SHA-256 of files, remembered per source folder in $ROOKERY_HOME/cache/hashes.

When is a remembered hash true? git's racy rule, a little stricter. A file system's clock has steps (of
milliseconds), so a file that is changed right after it was hashed may keep its size and its times. `stamp` is
what that clock said before the folder was walked: an entry is remembered only if its mtime and ctime are both
older. A later change then gets a time of at least `stamp`, and shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from typing import Any, Optional

from rookery.errors import SnapshotError
from rookery.settings import rookery_home

__all__ = ["HashCache", "Key", "hash_file", "key_of"]

FORMAT = 1
CHUNK = 1024 * 1024
MAX_CACHES = 200
Key = tuple[int, int, int, int, int]


def key_of(status: os.stat_result) -> Key:
    """What must be the same for a file to be the same."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)


def hash_file(path: str) -> tuple[str, os.stat_result]:
    """The SHA-256 of a file, and what stat said of exactly those bytes. A file that changes meanwhile is read
    again; one that only grows is taken as long as it was.

    Raises:
        FileNotFoundError: it is gone.
        SnapshotError: it may not be read, or keeps changing.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SnapshotError(
            f"{path} cannot be read: {error.strerror or error}. Make it readable, or leave it "
            "out with a line in .amlignore."
        ) from error
    try:
        for _ in range(5):
            before = os.fstat(fd)
            digest, size = _digest(fd, before.st_size)
            after = os.fstat(fd)
            if size == before.st_size and (key_of(after) == key_of(before) or after.st_size > before.st_size):
                return digest, before
    finally:
        os.close(fd)
    raise SnapshotError(
        f"{path} changes while it is read. Submit when it is finished, or leave it out with a line in .amlignore."
    )


def _digest(fd: int, size: int) -> tuple[str, int]:
    digest, done = hashlib.sha256(), 0
    while done < size:
        chunk = os.pread(fd, min(CHUNK, size - done), done)
        if not chunk:
            break
        digest.update(chunk)
        done += len(chunk)
    return digest.hexdigest(), done


class HashCache:
    """What is remembered of one source folder. Harmless to lose: whatever cannot be read is hashed again."""

    def __init__(self, folder: str) -> None:
        name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
        self._place = os.path.join(rookery_home(), "cache", "hashes")
        self._path = os.path.join(self._place, name + ".json")
        self._old = self._load()
        self._new: dict[str, list[Any]] = {}
        self._changed = False
        self._temporary, self._stamp = self._take_stamp()

    def get(self, path: str, status: os.stat_result) -> Optional[str]:
        """The hash remembered for this file as stat describes it now, or None."""
        row = self._old.get(path)
        if (
            row is None
            or row[1] != status.st_mtime_ns
            or row[0] != status.st_size
            or row[2] != status.st_ctime_ns
            or row[3] != status.st_ino
            or row[4] != status.st_mode
        ):
            return None
        self._new[path] = row
        digest: str = row[5]
        return digest

    def put(self, path: str, status: os.stat_result, digest: str) -> None:
        """Remember a hash, if the file has been left alone for long enough."""
        if status.st_mtime_ns < self._stamp and status.st_ctime_ns < self._stamp:
            self._new[path] = [*key_of(status), digest]
            self._changed = True

    def save(self) -> None:
        """Write what was seen since the start; paths that were not are forgotten. Errors are not told: it is
        a cache."""
        temporary, self._temporary = self._temporary, None
        if temporary is None:
            return
        try:
            if self._changed or len(self._new) != len(self._old):
                with open(temporary, "w", encoding="utf-8") as f:
                    f.write(json.dumps({"format": FORMAT, "files": self._new}, separators=(",", ":")))
                os.replace(temporary, self._path)
                self._forget_oldest()
            else:
                os.unlink(temporary)
        except (OSError, ValueError):
            _remove(temporary)

    def close(self) -> None:
        """Give up without saving."""
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            _remove(temporary)

    def _load(self) -> dict[str, list[Any]]:
        try:
            with open(self._path, "rb") as f:
                data = json.loads(f.read())
            if data["format"] != FORMAT:
                return {}
            files: dict[str, list[Any]] = data["files"]
            return files if all(len(row) == 6 for row in files.values()) else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _take_stamp(self) -> tuple[Optional[str], int]:
        """A new file's mtime is what the file system's clock says now. The file becomes the cache's next
        version."""
        try:
            os.makedirs(self._place, mode=0o700, exist_ok=True)
            fd, path = tempfile.mkstemp(dir=self._place, suffix=".tmp")
        except OSError:
            return None, 0
        try:
            return path, os.fstat(fd).st_mtime_ns
        finally:
            os.close(fd)

    def _forget_oldest(self) -> None:
        with os.scandir(self._place) as entries:
            files = [(e.stat().st_mtime, e.path) for e in entries]
        for _, path in sorted(files)[:-MAX_CACHES]:
            _remove(path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
