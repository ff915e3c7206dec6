"""Sending content to the keeper: small files many at a time, large ones by themselves."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from typing import Any, BinaryIO, Optional

from rookery.client import Client, FilePart, upload_content
from rookery.errors import RookeryError, SnapshotError
from rookery.submit.hashing import hash_file

__all__ = ["PACK_BYTES", "SMALL_BYTES", "Sender"]

PACK_BYTES = 4 * 1024 * 1024
SMALL_BYTES = 1024 * 1024
# How many hashes are asked about in one request (64 characters each).
ASK_AT_ONCE = 20000
TRIES = 4


class Sender:
    """Sends files of one source folder. A file that has changed since it was hashed is hashed again and its
    entry corrected."""

    def __init__(self, client: Client, folder: str, progress: Optional[Callable[[int, int], None]] = None) -> None:
        self._client, self._folder, self._progress = client, folder, progress
        self.sent_files = 0
        self.sent_bytes = 0
        self._total = 0

    def send(self, entries: list[dict[str, Any]]) -> None:
        """Make the keeper have the content of these entries. Corrects `sha256` and `size` in them where a
        file has changed.

        Raises:
            SnapshotError: a file is gone, or keeps changing.
        """
        first: dict[str, dict[str, Any]] = {}
        same: dict[str, list[dict[str, Any]]] = {}
        for e in entries:
            if first.setdefault(e["sha256"], e) is not e:
                same.setdefault(e["sha256"], []).append(e)
        missing = self._missing(list(first))
        self._total = self.sent_bytes + sum(first[sha]["size"] for sha in missing)
        pack = io.BytesIO()
        for sha in missing:
            e = first[sha]
            if e["size"] > SMALL_BYTES:
                self._send_large(e)
            else:
                self._add(pack, e)
                if pack.tell() >= PACK_BYTES:
                    self._send_pack(pack)
            if e["sha256"] != sha and sha in same:
                self.send(same[sha])  # its twins have the old content, which has not travelled
        self._send_pack(pack)

    def _missing(self, hashes: list[str]) -> list[str]:
        missing: list[str] = []
        for i in range(0, len(hashes), ASK_AT_ONCE):
            part = hashes[i : i + ASK_AT_ONCE]
            wanted = set(self._client.request("POST", "/content/missing", body={"sha256": part})["missing"])
            missing.extend(h for h in part if h in wanted)
        return missing

    def _add(self, pack: BinaryIO, e: dict[str, Any]) -> None:
        try:
            with open(self._full(e), "rb") as f:
                data = f.read(e["size"])
        except OSError as error:
            raise self._gone(e, error) from error
        # Whatever was read is whole in itself; if it is not what was hashed, it is what the snapshot holds.
        e["sha256"], e["size"] = hashlib.sha256(data).hexdigest(), len(data)
        pack.write(b"%s%016x" % (e["sha256"].encode("ascii"), len(data)))
        pack.write(data)
        self._count(len(data))

    def _send_pack(self, pack: io.BytesIO) -> None:
        if pack.tell():
            self._client.request("POST", "/content/pack", body=pack.getvalue())
            pack.seek(0)
            pack.truncate()
            self._tell()

    def _send_large(self, e: dict[str, Any]) -> None:
        for n in range(1, TRIES + 1):
            try:
                with open(self._full(e), "rb") as f:
                    upload_content(self._client, e["sha256"], FilePart(f, e["size"]))
                break
            except OSError as error:
                if isinstance(error, RookeryError):
                    raise
                raise self._gone(e, error) from error
            except RookeryError:
                # The keeper checks the hash. If the file is what it was, the error is about something else.
                digest, status = hash_file(self._full(e))
                if digest == e["sha256"] or n == TRIES:
                    raise
                e["sha256"], e["size"] = digest, status.st_size
        self._count(e["size"])
        self._tell()

    def _full(self, e: dict[str, Any]) -> str:
        return os.path.join(self._folder, e["path"])

    def _gone(self, e: dict[str, Any], error: OSError) -> SnapshotError:
        return SnapshotError(f"{e['path']} cannot be read any more: {error.strerror or error}. Submit again.")

    def _count(self, size: int) -> None:
        self.sent_files += 1
        self.sent_bytes += size

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self.sent_bytes, max(self._total, self.sent_bytes))
