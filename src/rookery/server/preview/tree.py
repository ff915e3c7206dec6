"""One folder of a flat list of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rookery.errors import NotFoundError
from rookery.server.preview.kinds import kind_of

__all__ = ["folder_of"]


def folder_of(files: Iterable[dict[str, Any]], path: str, limit: int) -> dict[str, Any]:
    """What lies directly in `path` (empty: the top). Each of `files` has `name`, the whole path, and `size`."""
    path = path.strip("/")
    within = path + "/" if path else ""
    folders: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    for file in files:
        if not file["name"].startswith(within):
            continue
        first, slash, _ = file["name"][len(within) :].partition("/")
        if slash:
            folder = folders.setdefault(first, {"name": first, "path": within + first, "files": 0, "bytes": 0})
            folder["files"] += 1
            folder["bytes"] += file["size"]
        else:
            found.append({**file, "name": first, "path": file["name"], "preview": kind_of(first)})
    if path and not folders and not found:
        raise NotFoundError(f"There is no folder '{path:.200}' here.")
    shown = sorted(folders.values(), key=lambda one: one["name"])[:limit]
    room = limit - len(shown)
    return {
        "path": path,
        "folders": shown,
        "files": sorted(found, key=lambda one: one["name"])[:room],
        "more": len(folders) + len(found) > limit,
    }
