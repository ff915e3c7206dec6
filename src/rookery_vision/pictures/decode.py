"""A file's bytes → RGB, 8 bits. JPEG goes through simplejpeg where it is installed, everything else through Pillow.

The order is fixed, not probed at run time: two decoders may differ in the last bit, and the same seed must give the same
weights. `python -m benchmarks vision` has the speeds.
"""

from __future__ import annotations

import functools
import io
from typing import Any, Optional

__all__ = ["PICTURE_SUFFIXES", "decode", "identify", "to_rgb"]

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def decode(data: bytes, short_edge: Optional[int] = None) -> Any:
    """A numpy array of shape (height, width, 3).

    Args:
        short_edge: a JPEG may come out smaller, as long as its shorter edge keeps this many pixels: decoding to
            a half, a quarter or an eighth costs a fraction of decoding all of it.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    import numpy

    if data[:2] == b"\xff\xd8" and _simplejpeg() is not None:
        least = short_edge or 0
        try:
            return _simplejpeg().decode_jpeg(data, "RGB", min_height=least, min_width=least)
        except ValueError:
            pass  # four colours, or damaged: Pillow knows better, or says what it is
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        if short_edge and picture.format == "JPEG":
            scale = max(1, min(picture.size) // short_edge)
            picture.draft("RGB", (picture.width // scale, picture.height // scale))
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


class TooManyPixels(Exception):
    """More pixels than the limit."""


def to_rgb(picture: Any) -> Any:
    """A Pillow picture in RGB, without the warning that Pillow has for transparent palettes."""
    if picture.mode == "P" and "transparency" in picture.info:
        picture = picture.convert("RGBA")
    return picture if picture.mode == "RGB" else picture.convert("RGB")


@functools.lru_cache(maxsize=1)
def _simplejpeg() -> Any:
    try:
        import simplejpeg
    except ImportError:
        return None
    return simplejpeg
