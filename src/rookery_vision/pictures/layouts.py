"""What pictures a folder holds, and their categories: class folders, COCO, or just pictures."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional

from rookery_vision.errors import InvalidDatasetError
from rookery_vision.pictures import coco
from rookery_vision.pictures.archives import is_archive
from rookery_vision.pictures.decode import PICTURE_SUFFIXES

__all__ = ["Found", "Skipped", "find_base", "find_pictures", "first_archive"]


class Found(NamedTuple):
    """A file that looks like a picture, and its category where it has one."""

    path: str
    category: Optional[str]


class Skipped(NamedTuple):
    """A file that is left out, relative to the data set, and why."""

    file: str
    reason: str


def first_archive(folder: str) -> Optional[str]:
    """The first archive at the top of a folder."""
    names = sorted(n for n in os.listdir(folder) if is_archive(n) and os.path.isfile(os.path.join(folder, n)))
    return os.path.join(folder, names[0]) if names else None


def find_base(folder: str) -> str:
    """The folder that the class folders are in: wrappers are stepped into; the parent of a lone class folder stays."""
    while True:
        names = [n for n in os.listdir(folder) if not _is_noise(n)]
        inner = os.path.join(folder, names[0]) if len(names) == 1 else ""
        if not os.path.isdir(inner) or any(_is_picture(n) for n in os.listdir(inner)):
            return folder
        folder = inner


def find_pictures(base: str) -> tuple[list[Found], list[Skipped]]:
    """All pictures in order of their category and name. The first layout that fits wins: COCO, class folders, any pictures.

    Raises:
        InvalidDatasetError: there is none.
    """
    annotated = coco.read(base)
    if annotated is not None:
        found = [Found(path, category) for path, category in annotated.labelled]
        skipped = [Skipped(name, reason) for name, reason in annotated.skipped]
    else:
        found, skipped = _class_folders(base)
        if not found:
            found, skipped = _any_pictures(base), []
    if not found:
        raise InvalidDatasetError(
            f"{base} holds no picture. Expected <category>/<file> below it, with one of the suffixes {' '.join(PICTURE_SUFFIXES)}."
        )
    return sorted(found, key=lambda f: (f.category or "", f.path)), skipped


def _class_folders(base: str) -> tuple[list[Found], list[Skipped]]:
    found, skipped = [], []
    for entry in sorted(os.scandir(base), key=lambda e: e.name):
        if _is_noise(entry.name):
            continue
        if not entry.is_dir():
            if _is_picture(entry.name):
                skipped.append(Skipped(entry.name, "it is in no category's folder"))
            continue
        for inner in os.scandir(entry.path):
            relative = f"{entry.name}/{inner.name}"
            if _is_noise(inner.name):
                continue
            if inner.is_dir():
                skipped += [
                    Skipped(os.path.relpath(f.path, base), "it lies too deep") for f in _any_pictures(inner.path)
                ]
            elif _is_picture(inner.name):
                found.append(Found(inner.path, entry.name))
            else:
                skipped.append(Skipped(relative, "its suffix is none of a picture"))
    return found, skipped


def _any_pictures(base: str) -> list[Found]:
    found = []
    for folder, folders, names in os.walk(base):
        folders[:] = [f for f in folders if not _is_noise(f)]
        found += [Found(os.path.join(folder, n), None) for n in names if _is_picture(n) and not _is_noise(n)]
    return found


def _is_picture(name: str) -> bool:
    return name.lower().endswith(PICTURE_SUFFIXES)


def _is_noise(name: str) -> bool:
    """What operating systems and notebooks leave lying about."""
    return name.startswith(".") or name in ("__MACOSX", "Thumbs.db", "desktop.ini")
