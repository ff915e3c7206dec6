"""A snapshot as a zip that is made while it is sent: never a whole archive, or a whole file, in memory."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterator
from typing import Any

from rookery.record.content import Content

__all__ = ["zip_chunks"]

CHUNK = 1024 * 1024


def zip_chunks(content: Content, entries: list[dict[str, Any]]) -> Iterator[bytes]:
    """The bytes of the archive, entry by entry. Links are kept as links."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry["path"])
            info.compress_type = zipfile.ZIP_DEFLATED
            kind = stat.S_IFREG if entry["link"] is None else stat.S_IFLNK
            info.external_attr = (kind | (entry["mode"] & 0o7777)) << 16
            if entry["link"] is not None:
                archive.writestr(info, entry["link"])
                yield sink.take()
                continue
            with (
                content.open(entry["sha256"]) as source,
                archive.open(info, "w", force_zip64=entry["size"] > 2**31) as target,
            ):
                while chunk := source.read(CHUNK):
                    target.write(chunk)
                    yield sink.take()
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """What zipfile writes to: it cannot seek, so sizes come after the data, and is emptied as it fills."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
