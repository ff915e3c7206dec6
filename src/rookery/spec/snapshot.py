"""A snapshot as data: the sorted list of its entries, and the id that follows from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

__all__ = ["entry", "snapshot_id"]


def entry(path: str, sha256: str, size: int, mode: int, link: str | None = None) -> dict[str, Any]:
    """One file (or, with `link`, one symbolic link) of a snapshot."""
    return {"path": path, "sha256": sha256, "size": size, "mode": mode, "link": link}


def snapshot_id(entries: Iterable[dict[str, Any]]) -> str:
    """The SHA-256 of what the entries say, the same on every machine for the same bytes."""
    rows = [[e["path"], e["sha256"], e["size"], e["mode"], e["link"]] for e in entries]
    rows.sort()
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
