"""What the processes of a version wrote, and before that what preparing its environment said."""

from __future__ import annotations

import os
from typing import Any, Optional

from rookery.errors import EndpointError
from rookery.spec.paths import ServedPaths

__all__ = ["last_lines", "part"]

MOST = 32 * 1024 * 1024  # bytes that are looked through for the last lines


def last_lines(served: ServedPaths, row: dict[str, Any], version: Optional[str], lines: int) -> str:
    path = _path(served, row, version)
    size = _size(path)
    data = _read(path, max(0, size - MOST), MOST)
    return "\n".join(data.decode("utf-8", "replace").splitlines()[-lines:]) + ("\n" if data else "")


def part(
    served: ServedPaths, row: dict[str, Any], version: Optional[str], offset: int, length: int
) -> tuple[bytes, int]:
    """(bytes from an offset on, how many there are)"""
    path = _path(served, row, version)
    return _read(path, offset, length), _size(path)


def _path(served: ServedPaths, row: dict[str, Any], version: Optional[str]) -> str:
    known = [one["name"] for one in row["versions"]]
    default = next((one["name"] for one in row["versions"] if one["is_default"]), known[0])
    name = version or default
    if name not in known:
        raise EndpointError(f"Endpoint '{row['name']}' has no version '{name:.80}'. It has {', '.join(known)}.")
    return served.log(name) if _size(served.log(name)) else served.build_log(name)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _read(path: str, offset: int, length: int) -> bytes:
    try:
        with open(path, "rb") as f:
            f.seek(offset)
            return f.read(length)
    except OSError:
        return b""
