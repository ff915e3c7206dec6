"""Many files in one body: `{"path", "size"}` as a line of JSON, then so many bytes, again and again.

A path that ends with '/' is an empty folder. What was whole when the body broke off is kept; the rest is as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Optional

from rookery.errors import DataError, UserError
from rookery.spec.names import check_artifact_name
from rookery.stores import Store, StoreWriter

__all__ = ["PackWriter"]

MAX_LINE = 64 * 1024


class PackWriter:
    """Takes a pack piece by piece and writes its files to a store.

    Args:
        prefix: the folder on the store that paths are below; empty: its top.
        overwrite: without it a file that is there stays, and is counted as skipped. With `must_equal` one that is there with
            another size is an error instead.
    """

    def __init__(
        self,
        store: Store,
        prefix: str = "",
        overwrite: bool = False,
        check: Callable[[str], None] = lambda path: None,
    ) -> None:
        self._store, self._prefix, self._overwrite, self._check = store, prefix.strip("/"), overwrite, check
        self._pending = bytearray()
        self._writer: Optional[StoreWriter] = None
        self._left = 0
        self._inside = False
        self.files = self.skipped = self.bytes = 0

    def feed(self, data: bytes) -> None:
        self._pending += data
        at = 0
        while True:
            if not self._inside:
                end = self._pending.find(b"\n", at)
                if end < 0:
                    if len(self._pending) - at > MAX_LINE:
                        raise UserError("The pack is damaged: a line of it has no end.")
                    break
                self._begin(bytes(self._pending[at:end]))
                at = end + 1
            piece = bytes(self._pending[at : at + self._left])
            if piece and self._writer is not None:
                self._writer.write(piece)
            at += len(piece)
            self._left -= len(piece)
            if self._left:
                break
            self._end()
        del self._pending[:at]

    def finish(self, data: bytes = b"") -> dict[str, int]:
        self.feed(data)
        if self._inside or self._pending:
            self.close()
            raise UserError("The pack ends in the middle of a file.")
        return {"files": self.files, "skipped": self.skipped, "bytes": self.bytes}

    def close(self) -> None:
        if self._writer is not None:
            self._writer.abort()
            self._writer = None

    def _begin(self, line: bytes) -> None:
        head: Any = None
        try:
            head = json.loads(line)
        except ValueError:
            pass
        size = head.get("size") if isinstance(head, dict) else None
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 53:
            raise UserError('The pack is damaged: a file starts with a line {"path", "size"}.')
        given = str(head.get("path"))
        path = check_artifact_name(given.rstrip("/") if given.endswith("/") else given)
        self._check(path)
        whole = f"{self._prefix}/{path}" if self._prefix else path
        self._left, self._inside = size, True
        if given.endswith("/"):
            if size:
                raise UserError(f"{given!r:.200} is a folder and has no bytes.")
            self._store.make_folder(whole)
            return
        if not self._overwrite and self._store.find(whole) is not None:
            self.skipped += 1
            return
        self._writer = self._store.writer(whole)
        self.bytes += size

    def _end(self) -> None:
        self._inside = False
        if self._writer is None:
            return
        try:
            self._writer.commit()
        except FileNotFoundError as error:
            raise DataError(f"A file could not be written: {error}") from error
        self._writer.abort()
        self._writer = None
        self.files += 1
