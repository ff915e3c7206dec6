"""Any folder or archive of pictures → an image directory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Optional, Union

from rookery_vision.errors import ImageExceedsLimitError, InvalidDatasetError
from rookery_vision.formats.image_directory import ImageDirectory, ImageDirectoryWriter, ImageRow
from rookery_vision.pictures.archives import SUFFIXES, is_archive, unpack
from rookery_vision.pictures.decode import TooManyPixels, identify
from rookery_vision.pictures.layouts import Found, Skipped, find_base, find_pictures, first_archive
from rookery_vision.pictures.limits import Limits

__all__ = ["convert"]


def convert(source: str, target: str) -> ImageDirectory:
    """Write the pictures of `source` as an image directory.

    Raises:
        InvalidDatasetError: there is nothing in it that could be one.
        ImageExceedsLimitError: a picture has more pixels than allowed.
    """
    limits = Limits.from_environment()
    archive = _archive(source)
    if archive is None:
        return _write(source, find_base(source), target, limits, how="copy")
    # On the same disk as the output, so that files are moved, not copied.
    scratch = tempfile.mkdtemp(prefix=".unpacking-", dir=os.path.dirname(os.path.abspath(target)))
    try:
        unpack(archive, scratch, limits)
        return _write(archive, find_base(scratch), target, limits, how="move")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _archive(source: str) -> Optional[str]:
    if os.path.isfile(source):
        if not is_archive(source):
            raise InvalidDatasetError(
                f"{source} is no archive. Allowed: a folder, or a file that ends in {', '.join(SUFFIXES)}."
            )
        return source
    return None if ImageDirectory.is_one(source) else first_archive(source)


def _write(source: str, base: str, target: str, limits: Limits, how: str) -> ImageDirectory:
    if ImageDirectory.is_one(base):
        return _again(base, target, limits, how)
    pictures, skipped = find_pictures(base)
    good: list[tuple[Found, tuple[int, int]]] = []
    for found, seen in _identified(pictures, limits):
        if isinstance(seen, str):
            name = os.path.relpath(found.path, base)
            skipped.append(Skipped(name, seen))
        else:
            good.append((found, seen))
    if not good:
        raise InvalidDatasetError(
            f"{source} holds {len(pictures)} files that look like pictures, and none can be read. {_first(skipped)}"
        )
    categories = sorted({f.category for f, _ in good if f.category is not None}) or None
    writer = ImageDirectoryWriter(target, categories)
    for id, (found, (width, height)) in enumerate(good):
        name = writer.name_for(id, found.category, os.path.splitext(found.path)[1])
        writer.add_file(found.path, ImageRow(id, name, width, height, found.category), how)
    made = writer.close(skipped)
    _say(made, skipped)
    return made


def _identified(pictures: list[Found], limits: Limits) -> Iterator[tuple[Found, Union[tuple[int, int], str]]]:
    """Every picture with its size, or with why it cannot be read. In order."""

    def look(found: Found) -> Union[tuple[int, int], str]:
        try:
            return identify(found.path, limits.pixels)
        except TooManyPixels as error:
            raise ImageExceedsLimitError(
                f"{found.path} is too large: {error}. Allowed: {limits.pixels} pixels. Take it out, or raise ROOKERY_VISION_MAX_PIXELS."
            ) from error
        except Exception as error:  # Pillow's plugins raise whatever they like on damaged files
            return f"it cannot be read: {error or type(error).__name__}"

    with ThreadPoolExecutor(max_workers=min(8, (os.cpu_count() or 1) + 1)) as pool:
        yield from zip(pictures, pool.map(look, pictures))


def _again(base: str, target: str, limits: Limits, how: str) -> ImageDirectory:
    """One that is an image directory already: looked at once more, because it may come from anywhere."""
    old = ImageDirectory.read(base)
    writer, skipped = ImageDirectoryWriter(target, old.categories), []
    rows = {old.path(row): row for row in old.rows}
    for found, seen in _identified([Found(path, None) for path in rows], limits):
        row = rows[found.path]
        if isinstance(seen, str):
            skipped.append(Skipped(row.file_name, seen))
        else:
            writer.add_file(found.path, row._replace(width=seen[0], height=seen[1]), how)
    return writer.close(skipped)


def _first(skipped: list[Skipped]) -> str:
    return f"The first, {skipped[0].file}: {skipped[0].reason}." if skipped else ""


def _say(made: ImageDirectory, skipped: list[Skipped]) -> None:
    of = f" in {len(made.categories)} categories" if made.categories is not None else ", without categories"
    print(f"{len(made.rows)} pictures{of}; {len(skipped)} files left out", flush=True)
    for one in skipped[:20]:
        print(f"  left out {one.file}: {one.reason}", flush=True)
    if len(skipped) > 20:
        print(f"  and {len(skipped) - 20} more, listed in _skipped.json", flush=True)
