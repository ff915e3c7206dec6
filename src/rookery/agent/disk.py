"""Writing the small files that others rely on: whole or not at all, and on disk when it counts."""

from __future__ import annotations

import json
import os
from typing import Any, Optional

__all__ = ["read_json", "write_json"]


def write_json(path: str, data: Any, sync: bool = False) -> None:
    """Replace `path` atomically; with `sync` it has reached the disk when this returns."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = f"{path}.part-{os.getpid()}"
    with open(partial, "w", encoding="utf-8") as f:
        json.dump(data, f)
        if sync:
            f.flush()
            os.fsync(f.fileno())
    os.replace(partial, path)
    if sync:
        fd = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def read_json(path: str) -> Optional[Any]:
    """The data, or None when there is no such file or it is not JSON."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None
