"""SHA-256 of files on folders, remembered by what stat says of them. Harmless to lose."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from typing import Optional

from rookery.errors import DataError

__all__ = ["Hashes"]

CHUNK = 1024 * 1024
TRIES = 3
SAFE_NS = 2_000_000_000  # without the file system's own clock: a change within this time might not show
_Stamp = tuple[int, int, int, int]


class Hashes:
    """Promises: a hash is of exactly the bytes that stat describes; git's racy rule: what is younger than the look is not
    remembered, so a later change always shows."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._db: Optional[sqlite3.Connection] = None

    def of(
        self, root: str, files: Iterable[tuple[str, int, str]], pulse: Callable[[int], None] = lambda done: None
    ) -> dict[str, tuple[str, int, str]]:
        """path → (sha256, size, etag) of files of a folder, given as (path, size, etag).

        Raises:
            DataError: a file is gone, may not be read, or keeps changing.
        """
        by_folder: dict[str, list[str]] = {}
        for path, _, _ in files:
            by_folder.setdefault(os.path.dirname(path), []).append(path)
        stamp = self._clock(root)
        found: dict[str, tuple[str, int, str]] = {}
        new: list[tuple[str, str, int, int, int, int, str]] = []
        for folder, paths in by_folder.items():
            real = os.path.join(root, folder)
            known = self._known(real)
            for path in paths:
                name = os.path.basename(path)
                sha, about, is_new = self._one(os.path.join(real, name), known.get(name), path)
                found[path] = (sha, about.st_size, str(about.st_mtime_ns))
                if is_new and about.st_mtime_ns < stamp and about.st_ctime_ns < stamp:
                    new.append((real, name, *_stamp(about), sha))
            pulse(len(found))
        self._remember(new)
        return found

    def close(self) -> None:
        """Lets go of its file; the next question opens it again."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _one(self, full: str, known: Optional[tuple[_Stamp, str]], shown: str) -> tuple[str, os.stat_result, bool]:
        try:
            about = os.stat(full)
            if known is not None and known[0] == _stamp(about):
                return known[1], about, False
            for _ in range(TRIES):
                fd = os.open(full, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    before = os.fstat(fd)
                    sha = _digest(fd, before.st_size)
                    after = os.fstat(fd)
                finally:
                    os.close(fd)
                if sha is not None and _stamp(before) == _stamp(after):
                    return sha, before, True
        except FileNotFoundError:
            raise DataError(
                f"'{shown}' went away while it was read. Do it again when nobody changes the data."
            ) from None
        except OSError as error:
            raise DataError(f"'{shown}' cannot be read: {error.strerror or error}.") from error
        raise DataError(f"'{shown}' changes while it is read. Do it again when it is finished.")

    def _known(self, folder: str) -> dict[str, tuple[_Stamp, str]]:
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            query = "SELECT name, size, mtime, ctime, inode, sha256 FROM hashes WHERE folder = ?"
            rows = self._open().execute(query, (folder,))
            return {name: ((size, mtime, ctime, inode), sha) for name, size, mtime, ctime, inode, sha in rows}
        return {}

    def _remember(self, rows: list[tuple[str, str, int, int, int, int, str]]) -> None:
        if not rows:
            return
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            db = self._open()
            with db:
                db.executemany("INSERT OR REPLACE INTO hashes VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            self._db = sqlite3.connect(self._path, check_same_thread=False, timeout=10)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=OFF")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS hashes (folder TEXT, name TEXT, size INTEGER, mtime INTEGER, ctime INTEGER, "
                "inode INTEGER, sha256 TEXT, PRIMARY KEY (folder, name)) WITHOUT ROWID"
            )
        return self._db

    def _clock(self, root: str) -> int:
        """What the file system of the data says the time is, where it is the one that we can write to."""
        with contextlib.suppress(OSError):
            place = os.path.dirname(self._path)
            os.makedirs(place, mode=0o700, exist_ok=True)
            if os.stat(place).st_dev == os.stat(root).st_dev:
                with tempfile.TemporaryFile(dir=place) as file:
                    return os.fstat(file.fileno()).st_mtime_ns
        return time.time_ns() - SAFE_NS


def _stamp(about: os.stat_result) -> _Stamp:
    return (about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)


def _digest(fd: int, size: int) -> Optional[str]:
    """None where the file ends before `size` bytes."""
    if size <= CHUNK:  # most of a hundred thousand
        data = os.read(fd, size + 1)
        return hashlib.sha256(data).hexdigest() if len(data) == size else None
    digest, left = hashlib.sha256(), size
    while left:
        data = os.read(fd, min(CHUNK, left))
        if not data:
            return None
        digest.update(data)
        left -= len(data)
    return digest.hexdigest()
