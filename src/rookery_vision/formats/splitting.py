"""Splitting an image directory in two: by category, and always the same way."""

from __future__ import annotations

import contextlib
import math
import os
import random
from collections.abc import Sequence
from typing import Optional

from rookery_vision.errors import InvalidDatasetError, NotInRangeValueError
from rookery_vision.formats.image_directory import ImageDirectory, ImageDirectoryWriter
from rookery_vision.formats.meta import META

__all__ = ["choose", "split"]

SEED = 42


def split(source: str, first: str, second: str, fraction: float) -> None:
    """Write the two parts. Both keep the ids and the whole list of categories.

    Raises:
        InvalidDatasetError: fewer than two pictures.
        NotInRangeValueError: one of the parts would be empty.
    """
    whole = ImageDirectory.read(source)
    count = len(whole.rows)
    if count < 2:
        raise InvalidDatasetError(f"{source} has {count} pictures. At least 2 are needed to split.")
    if not 1 / count <= fraction <= 1 - 1 / count:
        raise NotInRangeValueError(
            f"Parameter 'Fraction of images in the first output' is {fraction}. Of {count} pictures it must be from {1 / count:.6g} "
            f"to {1 - 1 / count:.6g}, so that neither part is empty."
        )
    chosen = set(choose([row.category for row in whole.rows], fraction))
    try:
        for folder, is_first in ((first, True), (second, False)):
            writer = ImageDirectoryWriter(folder, whole.categories)
            for place, row in enumerate(whole.rows):
                if (place in chosen) == is_first:
                    # Nothing writes into a picture of an image directory, so both may share it.
                    writer.add_file(whole.path(row), row, how="link")
            made = writer.close()
            print(f"{len(made.rows)} of {count} pictures: {folder}", flush=True)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(first, META))  # half a split is not to be taken for a whole one
        raise


def choose(categories: Sequence[Optional[str]], fraction: float) -> list[int]:
    """The places that go to the first part: floor(fraction × n) of them, each category in proportion where that is possible."""
    count = len(categories)
    wanted = min(max(math.floor(fraction * count + 1e-9), 1), count - 1)
    shuffled = list(range(count))
    random.Random(SEED).shuffle(shuffled)
    groups: dict[Optional[str], list[int]] = {}
    for place in shuffled:
        groups.setdefault(categories[place], []).append(place)
    possible = min(len(g) for g in groups.values()) >= 2 and len(groups) <= min(wanted, count - wanted)
    if None in groups or not possible:
        return sorted(shuffled[:wanted])
    shares = _shares({name: len(group) for name, group in groups.items() if name is not None}, wanted, count)
    return sorted(place for name, share in shares.items() for place in groups[name][:share])


def _shares(sizes: dict[str, int], wanted: int, count: int) -> dict[str, int]:
    """How many of each category: its proportion rounded down, at least one and never all, the rest by the largest remainder."""
    exact = {name: size * wanted / count for name, size in sizes.items()}
    shares = {name: min(max(math.floor(exact[name]), 1), sizes[name] - 1) for name in sizes}
    by_need = sorted(sizes, key=lambda name: (shares[name] - exact[name], name))
    while sum(shares.values()) != wanted:
        step = 1 if sum(shares.values()) < wanted else -1
        for name in by_need if step > 0 else reversed(by_need):
            if 1 <= shares[name] + step <= sizes[name] - 1:
                shares[name] += step
                if sum(shares.values()) == wanted:
                    break
    return shares
