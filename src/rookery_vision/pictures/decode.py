"""A file's bytes → RGB, 8 bits. JPEG goes through the decoder that is fastest here (`decoders.py`), everything else through Pillow."""

from __future__ import annotations

import io
from typing import Any, Optional

from rookery_vision.pictures import decoders

__all__ = ["PICTURE_SUFFIXES", "TooManyPixels", "decode", "identify", "size_of", "to_rgb"]

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
JPEG = b"\xff\xd8"


class TooManyPixels(Exception):
    """More pixels than the limit."""


def decode(data: bytes, short_edge: Optional[int] = None) -> Any:
    """A numpy array of shape (height, width, 3).

    Args:
        short_edge: a JPEG may come out smaller, as long as its shorter edge keeps this many pixels: decoding to
            a half, a quarter or an eighth costs a fraction of decoding all of it.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    import numpy

    if data[:2] == JPEG and decoders.chosen() != decoders.PILLOW:
        try:
            return decoders.decode_with(decoders.chosen(), data, short_edge)
        except ValueError:
            pass  # four colours, or damaged: Pillow knows better, or says what it is
    from PIL import Image

    if data[:2] == JPEG:
        return decoders.decode_with(decoders.PILLOW, data, short_edge)
    with Image.open(io.BytesIO(data)) as picture:
        return numpy.array(to_rgb(picture))


def identify(path: str, max_pixels: int) -> tuple[int, int]:
    """(width, height) of a picture that can be read to its end.

    Raises:
        TooManyPixels: before anything is decoded.
        OSError, ValueError, SyntaxError: it cannot be read.
    """
    from PIL import Image

    try:
        picture = Image.open(path)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooManyPixels(str(error)) from error
    with picture:
        size = picture.size
        if size[0] * size[1] > max_pixels:
            raise TooManyPixels(f"{size[0]} × {size[1]} pixels")
        if picture.format == "JPEG":
            # An eighth of the size shows as well as the whole whether the file is complete.
            picture.draft("RGB", (max(1, size[0] // 8), max(1, size[1] // 8)))
        picture.load()
    return size


def size_of(data: bytes, max_pixels: int) -> tuple[int, int]:
    """(width, height) from a file's first bytes; nothing is decoded.

    Raises:
        TooManyPixels: more than the limit.
        OSError, ValueError, SyntaxError: it is not a picture.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            size = picture.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooManyPixels(str(error)) from error
    if size[0] * size[1] > max_pixels:
        raise TooManyPixels(f"{size[0]} × {size[1]} pixels")
    return size


def to_rgb(picture: Any) -> Any:
    """A Pillow picture in RGB, without the warning that Pillow has for transparent palettes."""
    return decoders.to_rgb(picture)
