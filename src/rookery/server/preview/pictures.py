"""Pictures by their first bytes: which kind, how large. Only kinds that cannot hold a script; SVG can, so it is none."""

from __future__ import annotations

import struct
from typing import Optional

__all__ = ["HEAD", "picture_size", "picture_type"]

HEAD = 64 * 1024  # bytes that are looked at


def picture_type(head: bytes) -> Optional[str]:
    """The content type, or None for what is not shown as a picture."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:2] == b"BM" and len(head) >= 26:
        return "image/bmp"
    return None


def picture_size(head: bytes) -> tuple[Optional[int], Optional[int]]:
    """(width, height), as far as the head tells."""
    kind = picture_type(head)
    try:
        if kind == "image/png":
            return struct.unpack(">II", head[16:24])
        if kind == "image/gif":
            return struct.unpack("<HH", head[6:10])
        if kind == "image/bmp":
            width, height = struct.unpack("<ii", head[18:26])
            return width, abs(height)
        if kind == "image/jpeg":
            return _jpeg(head)
        if kind == "image/webp" and head[12:16] == b"VP8X":
            return (int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1)
        if kind == "image/webp" and head[12:16] == b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return width & 0x3FFF, height & 0x3FFF
    except struct.error:
        pass
    return None, None


def _jpeg(head: bytes) -> tuple[Optional[int], Optional[int]]:
    place = 2
    while place + 9 < len(head) and head[place] == 0xFF:
        mark, length = head[place + 1], int.from_bytes(head[place + 2 : place + 4], "big")
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):  # the frame's header
            height, width = struct.unpack(">HH", head[place + 5 : place + 9])
            return width, height
        place += 2 + max(2, length)
    return None, None
