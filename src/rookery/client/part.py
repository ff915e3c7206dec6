"""A file on its way to the keeper."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

from rookery.errors import StorageError, UserError

__all__ = ["FilePart"]


class FilePart(io.RawIOBase):
    """`size` bytes of a file, from where it stands, as a file: what is appended while it travels is not part
    of it.

    Raises on reading:
        UserError: the file has become shorter.
        StorageError: the disk fails. (Not a plain OSError: that would look like a lost connection.)
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self.size = file, size
        self._start = file.tell()
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        left = self.size - self._at
        if left == 0:
            return b""
        try:
            data = self._file.read(left if size < 0 else min(size, left))
        except OSError as error:
            raise StorageError(f"A file cannot be read while it is sent: {error.strerror or error}.") from error
        if not data:
            raise UserError("A file became shorter while it was sent. Try again when nothing writes to it.")
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = base + offset
        self._file.seek(self._start + self._at)
        return self._at

    def tell(self) -> int:
        return self._at
