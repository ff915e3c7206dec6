"""COCO annotations: a .json at the top of a folder with `images` and `annotations`."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple, Optional

__all__ = ["Annotated", "read"]


class Annotated(NamedTuple):
    """Pictures with their category (None where no picture has a single one), and what was left out."""

    labelled: list[tuple[str, Optional[str]]]
    skipped: list[tuple[str, str]]


def read(base: str) -> Optional[Annotated]:
    """What the annotations say, or None where there are none. Pictures are taken from the folder, never fetched.

    A picture's category is the one that all of its annotations agree on, whatever they annotate (boxes, masks, key points). Where no
    picture has one (captions), all are unlabelled; where some have, the others are left out.
    """
    for name in sorted(os.listdir(base)):
        if name.lower().endswith(".json") and os.path.isfile(os.path.join(base, name)):
            data = _load(os.path.join(base, name))
            if data is not None:
                return _match(base, data)
    return None


def _load(path: str) -> Optional[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    parts = (data.get("images"), data.get("annotations"))
    return data if all(isinstance(p, list) and all(isinstance(x, dict) for x in p) for p in parts) else None


def _match(base: str, data: dict[str, Any]) -> Annotated:
    named = data.get("categories")
    names = (
        {_key(c.get("id")): str(c.get("name")) for c in named if isinstance(c, dict)} if isinstance(named, list) else {}
    )
    categories: dict[Any, set[str]] = {}
    for annotation in data["annotations"]:
        category = names.get(_key(annotation.get("category_id")))
        if category is not None:
            categories.setdefault(_key(annotation.get("image_id")), set()).add(category)
    files = _files(base)
    found: list[tuple[str, Optional[str]]] = []
    skipped: list[tuple[str, str]] = []
    for image in data["images"]:
        file_name = str(image.get("file_name") or "")
        path = _path(base, file_name, files)
        if path is None:
            skipped.append((file_name, "the annotations name it, but it is not in the folder"))
            continue
        mine = categories.get(_key(image.get("id")), set())
        found.append((path, next(iter(mine)) if len(mine) == 1 else None))
    if any(category is not None for _, category in found):
        skipped += [(os.path.relpath(p, base), "it has no category, or several") for p, c in found if c is None]
        found = [(p, c) for p, c in found if c is not None]
    return Annotated(found, skipped)


def _key(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else None


def _files(base: str) -> dict[str, str]:
    """Every file by its bare name; the first wins."""
    found: dict[str, str] = {}
    for folder, folders, names in os.walk(base):
        folders.sort()
        for name in sorted(names):
            found.setdefault(name, os.path.join(folder, name))
    return found


def _path(base: str, file_name: str, files: dict[str, str]) -> Optional[str]:
    parts = [p for p in file_name.replace("\\", "/").split("/") if p not in ("", ".")]
    if not parts or ".." in parts:
        return None
    direct = os.path.join(base, *parts)
    return direct if os.path.isfile(direct) else files.get(parts[-1])
