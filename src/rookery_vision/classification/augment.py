"""What is done to one picture (height, width, 3; bytes) before it goes into a batch."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy

__all__ = ["center", "crop_and_flip", "flip", "resized_shape"]

SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)  # torchvision's RandomResizedCrop
TRIES = 10


def resized_shape(height: int, width: int, short_edge: Optional[int]) -> tuple[int, int]:
    """(height, width) once the shorter edge has this length; the same where none is given."""
    if not short_edge:
        return height, width
    if height <= width:
        return short_edge, max(short_edge, int(short_edge * width / height))
    return max(short_edge, int(short_edge * height / width)), short_edge


def center(picture: Any, edge: int) -> Any:
    top, left = (picture.shape[0] - edge) // 2, (picture.shape[1] - edge) // 2
    return picture[top : top + edge, left : left + edge]


def flip(picture: Any, chance: numpy.random.Generator) -> Any:
    return picture[:, ::-1] if chance.random() < 0.5 else picture


def crop_and_flip(picture: Any, edge: int, chance: numpy.random.Generator) -> Any:
    """A random part of the picture, resized to a square, every second time mirrored."""
    from PIL import Image

    top, left, height, width = _part(picture.shape[0], picture.shape[1], chance)
    part = Image.fromarray(numpy.ascontiguousarray(picture[top : top + height, left : left + width]))
    return flip(numpy.asarray(part.resize((edge, edge), Image.Resampling.BILINEAR)), chance)


def _part(height: int, width: int, chance: numpy.random.Generator) -> tuple[int, int, int, int]:
    """(top, left, height, width), as RandomResizedCrop draws them."""
    for _ in range(TRIES):
        area = height * width * chance.uniform(*SCALE)
        ratio = math.exp(chance.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return int(chance.integers(0, height - h + 1)), int(chance.integers(0, width - w + 1)), h, w
    edge = min(height, width)
    return (height - edge) // 2, (width - edge) // 2, edge, edge
