"""The content store: blobs by their SHA-256, in a folder or (through fsspec) in an object store.

A blob is hashed while it is written to a temporary local file, then moved to its name, then entered in the
database. What
the database knows is there; a file without a row is an upload that did not finish, and is simply written again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Optional

from sqlalchemy import Connection, func, insert, or_, select, update

from rookery.errors import ArtifactNotFoundError, ConflictError, UserError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database
from rookery.record.schema import content
from rookery.record.storage import storage_errors

if TYPE_CHECKING:
    from rookery.record.remote_blobs import RemoteBlobs

__all__ = ["Content", "ContentWriter", "check_sha256", "require_content"]

CHUNK = 1024 * 1024
SEEN_EVERY_S = 3600.0
PART_KEPT_S = 24 * 3600.0
_BATCH = 500


class Content:
    """Promises: never a whole file in memory; a blob is complete or absent; the same bytes are stored once."""

    def __init__(self, db: Database, folder: str, url: str = "") -> None:
        self._db = db
        self._folder = os.path.abspath(folder)
        self.incoming = os.path.join(self._folder, "incoming")
        self._remote: Optional[RemoteBlobs] = None
        if url:
            from rookery.record.remote_blobs import RemoteBlobs

            self._remote = RemoteBlobs(url)
        self._turn = threading.Condition()
        self._moving: dict[str, int] = {}  # hashes that are being moved in: not to be collected meanwhile
        self._unentered: set[str] = set()  # moved in, and their rows are still to come
        self._removing: set[str] = set()

    def writer(self) -> ContentWriter:
        """A blob in the making: `write` bytes, then `commit`, or `abort`."""
        with storage_errors(self._folder):
            os.makedirs(self.incoming, mode=0o700, exist_ok=True)
            return ContentWriter(self, os.path.join(self.incoming, secrets.token_hex(16)))

    def put(self, stream: BinaryIO, expected: Optional[str] = None) -> tuple[str, int]:
        """Stores everything that `stream` has left; returns (sha256, size)."""
        with self.writer() as writer:
            while chunk := stream.read(CHUNK):
                writer.write(chunk)
            return writer.commit(expected)

    def open(self, sha256: str) -> BinaryIO:
        """The blob, for reading and seeking.

        Raises:
            ArtifactNotFoundError: it is not in the store, or its file is gone.
        """
        check_sha256(sha256)
        try:
            if self._remote is not None:
                with contextlib.suppress(FileNotFoundError):
                    return self._remote.open(sha256)
            # Also what was stored here before the workspace got its object store.
            return open(self._local(sha256), "rb")
        except FileNotFoundError:
            raise _not_found(sha256) from None

    def local_path(self, sha256: str) -> Optional[str]:
        """Where the blob lies as a file; None for an object store."""
        check_sha256(sha256)
        return None if self._remote is not None else self._local(sha256)

    def _local(self, sha256: str) -> str:
        return os.path.join(self._folder, sha256[:2], sha256)

    def size(self, sha256: str) -> int:
        with self._db.read() as conn:
            return require_content(conn, sha256)

    def exists(self, sha256: str) -> bool:
        return not self.missing([sha256])

    def missing(self, hashes: Iterable[str]) -> list[str]:
        """Those of the hashes that the store does not have, each once, in order."""
        wanted = list(hashes)
        with self._db.read() as conn:
            found = missing_content(conn, wanted)
            stale = _stale(conn, wanted)
        if stale:
            # Whoever asks is about to refer to them: they are not collected before that.
            with self._db.write() as tx:
                for i in range(0, len(stale), _BATCH):
                    some = content.c.sha256.in_(stale[i : i + _BATCH])
                    tx.conn.execute(update(content).where(some).values(seen_utc=utc_now()))
                gone = set(missing_content(tx.conn, stale))  # collected since we looked
            found = [h for h in dict.fromkeys(wanted) if h in gone or h in set(found)] if gone else found
        return found

    def total_bytes(self) -> int:
        with self._db.read() as conn:
            return int(conn.execute(select(func.coalesce(func.sum(content.c.size), 0))).scalar() or 0)

    def clear_incoming(self) -> None:
        """Removes what unfinished uploads of an earlier keeper left, but not those that can be taken up again and are not
        old. Only to be called when nothing is being written.
        """
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self.incoming):
                path = os.path.join(self.incoming, name)
                if not name.endswith(".part") or os.stat(path).st_mtime < time.time() - PART_KEPT_S:
                    os.unlink(path)

    def enter(self, blobs: Iterable[tuple[str, int]]) -> None:
        """Notes in the database that these (sha256, size) are stored; their files are in place already."""
        with self._db.write() as tx:
            sizes = dict(blobs)
            new = missing_content(tx.conn, sizes)
            if new:
                now = utc_now()
                tx.conn.execute(
                    insert(content), [{"sha256": sha256, "size": sizes[sha256], "seen_utc": now} for sha256 in new]
                )
        self._unentered.difference_update(sizes)

    def take_in(self, path: str, sha256: str, size: int) -> None:
        """Makes a blob of a complete file whose hash has been checked; the file is gone after."""
        if self.missing([sha256]):
            with self.moving(sha256):
                self._move_in(path, sha256)
                self.enter([(sha256, size)])

    @contextlib.contextmanager
    def moving(self, sha256: str) -> Iterator[None]:
        """Inside it the blob's file is not collected."""
        with self._turn:
            self._turn.wait_for(lambda: sha256 not in self._removing)
            self._moving[sha256] = self._moving.get(sha256, 0) + 1
        try:
            yield
        finally:
            with self._turn:
                self._moving[sha256] -= 1
                if not self._moving[sha256]:
                    del self._moving[sha256]

    def remove_file(self, sha256: str, before: Optional[float] = None) -> bool:
        """Removes the file of a blob that has no row, unless it is being stored again, or is not older than `before` (unix
        seconds)."""
        with self._turn:
            if sha256 in self._moving or sha256 in self._unentered:
                return False
            self._removing.add(sha256)  # whoever wants to store it now waits
        try:
            if self._has_row(sha256) or (before is not None and self._file_time(sha256) >= before):
                return False
            with contextlib.suppress(FileNotFoundError):
                if self._remote is not None:
                    self._remote.remove(sha256)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._local(sha256))
            return True
        finally:
            with self._turn:
                self._removing.discard(sha256)
                self._turn.notify_all()

    def _has_row(self, sha256: str) -> bool:
        with self._db.read() as conn:
            return not missing_content(conn, [sha256])

    def files(self) -> Iterator[tuple[str, int, float]]:
        """(sha256, size, time in unix seconds) of every file of the store, whether the record knows it or not."""
        for prefix in sorted(os.listdir(self._folder)) if os.path.isdir(self._folder) else []:
            if len(prefix) != 2:
                continue
            with (
                contextlib.suppress(FileNotFoundError, NotADirectoryError),
                os.scandir(os.path.join(self._folder, prefix)) as found,
            ):
                for entry in found:
                    if _SHA256(entry.name):
                        stat = entry.stat(follow_symlinks=False)
                        yield entry.name, stat.st_size, stat.st_mtime
        if self._remote is not None:
            yield from ((sha, size, when) for sha, size, when in self._remote.files() if _SHA256(sha))

    def _file_time(self, sha256: str) -> float:
        times = []
        with contextlib.suppress(FileNotFoundError):
            times.append(os.stat(self._local(sha256)).st_mtime)
        if self._remote is not None:
            with contextlib.suppress(FileNotFoundError):
                times.append(self._remote.modified(sha256))
        return max(times, default=0.0)

    def _move_in(self, temporary: str, sha256: str) -> None:
        with storage_errors(self._folder):
            if self._remote is not None:
                self._remote.put(temporary, sha256)
                return
            path = self._local(sha256)
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            os.chmod(temporary, 0o444)
            os.utime(temporary)
            os.replace(temporary, path)


class ContentWriter:
    """One upload. As a context manager it cleans up after itself, whatever happens."""

    def __init__(self, store: Content, path: str) -> None:
        self._store = store
        self._path = path
        self._hash = hashlib.sha256()
        self._file: Optional[BinaryIO] = open(path, "wb", buffering=0)  # noqa: SIM115
        self.size = 0

    def write(self, data: bytes) -> None:
        assert self._file is not None
        self._hash.update(data)
        with storage_errors(self._path):
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        self.size += len(data)

    def commit(self, expected: Optional[str] = None, enter: bool = True) -> tuple[str, int]:
        """Makes the blob exist; returns (sha256, size). With `enter` false the caller calls `Content.enter`,
        for many at once.

        Raises:
            ConflictError: the bytes do not have the hash that was announced.
        """
        sha256 = self._hash.hexdigest()
        if expected is not None and check_sha256(expected) != sha256:
            raise ConflictError(
                f"The bytes sent have the SHA-256 {sha256}, not {expected}. They changed on the way "
                "or while being read; send them again.",
                details={"sha256": sha256, "size": self.size},
            )
        self._close()
        if not enter:
            with self._store.moving(sha256):
                self._store._move_in(self._path, sha256)
                self._store._unentered.add(sha256)
        else:
            self._store.take_in(self._path, sha256, self.size)
        self.abort()
        return sha256, self.size

    def abort(self) -> None:
        self._close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)

    def __enter__(self) -> ContentWriter:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.abort()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


_SHA256 = re.compile(r"[0-9a-f]{64}\Z").match  # a snapshot asks this ten thousand times


def check_sha256(text: Any) -> str:
    if not isinstance(text, str) or not _SHA256(text):
        raise UserError(f"{text!r:.80} is not a SHA-256 in 64 lower-case hexadecimal digits.")
    return text


def require_content(conn: Connection, sha256: str) -> int:
    """The size of a stored blob, or ArtifactNotFoundError."""
    size = conn.execute(select(content.c.size).where(content.c.sha256 == check_sha256(sha256))).scalar()
    if size is None:
        raise _not_found(sha256)
    return int(size)


def missing_content(conn: Connection, hashes: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(check_sha256(h) for h in hashes))
    have = set(_known(conn, wanted))
    return [h for h in wanted if h not in have]


def _stale(conn: Connection, hashes: list[str]) -> list[str]:
    """Those that are stored and were last seen more than an hour ago."""
    since = from_unix(time.time() - SEEN_EVERY_S)
    found: list[str] = []
    for i in range(0, len(hashes), _BATCH):
        some = content.c.sha256.in_(hashes[i : i + _BATCH])
        old = or_(content.c.seen_utc.is_(None), content.c.seen_utc < since)
        found.extend(sha for (sha,) in conn.execute(select(content.c.sha256).where(some, old)))
    return found


def _known(conn: Connection, hashes: list[str]) -> Iterator[str]:
    for i in range(0, len(hashes), _BATCH):
        query = select(content.c.sha256).where(content.c.sha256.in_(hashes[i : i + _BATCH]))
        yield from (sha for (sha,) in conn.execute(query))


def _not_found(sha256: str) -> ArtifactNotFoundError:
    return ArtifactNotFoundError(f"Content {sha256} is not stored. Upload it first.", details={"missing": [sha256]})
