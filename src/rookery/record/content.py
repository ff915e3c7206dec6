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
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Optional

from sqlalchemy import Connection, func, insert, select

from rookery.errors import ArtifactNotFoundError, ConflictError, UserError
from rookery.record.database import Database
from rookery.record.schema import content
from rookery.record.storage import storage_errors

__all__ = ["Content", "ContentWriter", "check_sha256", "require_content"]

CHUNK = 1024 * 1024
_BATCH = 500


class Content:
    """Promises: never a whole file in memory; a blob is complete or absent; the same bytes are stored once."""

    def __init__(self, db: Database, folder: str, url: str = "") -> None:
        self._db = db
        self._folder = os.path.abspath(folder)
        self._incoming = os.path.join(self._folder, "incoming")
        self._url = url.rstrip("/")
        self._remote: Any = None
        if url:
            import fsspec

            self._remote, self._url = fsspec.core.url_to_fs(self._url)

    def writer(self) -> ContentWriter:
        """A blob in the making: `write` bytes, then `commit`, or `abort`."""
        with storage_errors(self._folder):
            os.makedirs(self._incoming, mode=0o700, exist_ok=True)
            return ContentWriter(self, os.path.join(self._incoming, secrets.token_hex(16)))

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
                return self._remote.open(self._remote_path(sha256), "rb")
            return open(self.local_path(sha256) or "", "rb")
        except FileNotFoundError:
            raise _not_found(sha256) from None

    def local_path(self, sha256: str) -> Optional[str]:
        """Where the blob lies as a file; None for an object store."""
        check_sha256(sha256)
        return None if self._remote is not None else os.path.join(self._folder, sha256[:2], sha256)

    def size(self, sha256: str) -> int:
        with self._db.read() as conn:
            return require_content(conn, sha256)

    def exists(self, sha256: str) -> bool:
        return not self.missing([sha256])

    def missing(self, hashes: Iterable[str]) -> list[str]:
        """Those of the hashes that the store does not have, each once, in order."""
        with self._db.read() as conn:
            return missing_content(conn, hashes)

    def total_bytes(self) -> int:
        with self._db.read() as conn:
            return int(conn.execute(select(func.coalesce(func.sum(content.c.size), 0))).scalar() or 0)

    def clear_incoming(self) -> None:
        """Removes what unfinished uploads of an earlier keeper left. Only to be called when nothing is being
        written.
        """
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self._incoming):
                os.unlink(os.path.join(self._incoming, name))

    def enter(self, blobs: Iterable[tuple[str, int]]) -> None:
        """Notes in the database that these (sha256, size) are stored; their files are in place already."""
        with self._db.write() as tx:
            sizes = dict(blobs)
            new = missing_content(tx.conn, sizes)
            if new:
                tx.conn.execute(insert(content), [{"sha256": sha256, "size": sizes[sha256]} for sha256 in new])

    def _move_in(self, temporary: str, sha256: str) -> None:
        with storage_errors(self._folder):
            path = self.local_path(sha256)
            if path is None:
                self._remote.makedirs(os.path.dirname(self._remote_path(sha256)), exist_ok=True)
                self._remote.put_file(temporary, self._remote_path(sha256))
                return
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            os.chmod(temporary, 0o444)
            os.replace(temporary, path)

    def _remote_path(self, sha256: str) -> str:
        return f"{self._url}/{sha256[:2]}/{sha256}"


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
            self._store._move_in(self._path, sha256)
        elif not self._store.exists(sha256):
            self._store._move_in(self._path, sha256)
            self._store.enter([(sha256, self.size)])
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


def _known(conn: Connection, hashes: list[str]) -> Iterator[str]:
    for i in range(0, len(hashes), _BATCH):
        query = select(content.c.sha256).where(content.c.sha256.in_(hashes[i : i + _BATCH]))
        yield from (sha for (sha,) in conn.execute(query))


def _not_found(sha256: str) -> ArtifactNotFoundError:
    return ArtifactNotFoundError(f"Content {sha256} is not stored. Upload it first.", details={"missing": [sha256]})
