"""Uploads that can be taken up again: what has arrived of a blob stays in a file of its hash until the rest has come."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from typing import BinaryIO, Optional

from rookery.errors import ConflictError, UserError
from rookery.record.content import CHUNK, Content, check_sha256
from rookery.record.storage import storage_errors

__all__ = ["PartialWriter", "Partials"]

SUFFIX = ".part"


class Partials:
    """Promises: bytes that `offset` counts are in the file; whoever began last writes, an earlier writer of the same blob
    is told so; a blob whose bytes do not have its hash is thrown away."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._lock = threading.Lock()
        self._writers: dict[str, PartialWriter] = {}

    def offset(self, sha256: str) -> Optional[int]:
        """Where the upload goes on; None when the blob is stored."""
        if not self._content.missing([check_sha256(sha256)]):
            return None
        try:
            return os.path.getsize(self._path(sha256))
        except FileNotFoundError:
            return 0

    def open(self, sha256: str, offset: int, total: int) -> PartialWriter:
        """Goes on with an upload of `total` bytes at `offset`.

        Raises:
            ConflictError: other bytes have arrived than the sender thinks; details have the `offset` to go on from.
        """
        have = self.offset(sha256)
        if have is None:
            raise ConflictError(f"Content {sha256} is stored already.", details={"stored": True})
        if not 0 <= offset <= total:
            raise UserError(f"The offset {offset} lies outside of the {total} bytes announced.")
        with self._lock, storage_errors(self._content.incoming):
            before = self._writers.pop(sha256, None)
            if before is not None:
                before.close()
            os.makedirs(self._content.incoming, mode=0o700, exist_ok=True)
            have = os.path.getsize(self._path(sha256)) if os.path.exists(self._path(sha256)) else 0
            if offset > have:
                raise ConflictError(
                    f"{have} bytes of {sha256} have arrived; {offset} does not follow.", details={"offset": have}
                )
            writer = PartialWriter(self, sha256, self._path(sha256), offset, total)
            self._writers[sha256] = writer
            return writer

    def finish(self, writer: PartialWriter) -> bool:
        """Ends a part; True when the blob is complete, checked and stored.

        Raises:
            ConflictError: all bytes are there and have another hash. They are gone: begin again.
        """
        with self._lock:
            if self._writers.get(writer.sha256) is writer:
                del self._writers[writer.sha256]
            writer.close()
            if writer.at < writer.total or not os.path.exists(writer.path):
                return False
            # From here it is one blob among others: nobody goes on with it.
            taken = writer.path + ".done"
            os.replace(writer.path, taken)
        try:
            digest = _hash(taken)
            if digest != writer.sha256:
                raise ConflictError(
                    f"The bytes sent have the SHA-256 {digest}, not {writer.sha256}. They changed on the way or while "
                    "being read; send them again.",
                    details={"sha256": digest, "offset": 0},
                )
            self._content.take_in(taken, writer.sha256, writer.total)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(taken)
        return True

    def _path(self, sha256: str) -> str:
        return os.path.join(self._content.incoming, check_sha256(sha256) + SUFFIX)


class PartialWriter:
    """One request's share of an upload."""

    def __init__(self, partials: Partials, sha256: str, path: str, offset: int, total: int) -> None:
        self.sha256, self.path, self.at, self.total = sha256, path, offset, total
        self._partials = partials
        self._lock = threading.Lock()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.ftruncate(fd, offset)
        self._file: Optional[BinaryIO] = os.fdopen(fd, "wb", buffering=0)
        self._file.seek(offset)

    def write(self, data: bytes) -> None:
        with self._lock, storage_errors(self.path):
            if self._file is None:
                raise ConflictError("The upload was taken up by another request.", details={"offset": self.at})
            if self.at + len(data) > self.total:
                raise UserError(f"More bytes came than the {self.total} announced.")
            view = memoryview(data)
            while view:
                done = self._file.write(view)
                view, self.at = view[done:], self.at + done

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _hash(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
