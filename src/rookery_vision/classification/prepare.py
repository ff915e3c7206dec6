"""One picture, from its file's bytes to the pixels that a network takes. Without torch: scoring uses it where there is none."""

from __future__ import annotations

from typing import Any, Optional

import numpy

from rookery_vision.classification.augment import center, resized_shape
from rookery_vision.errors import ImageExceedsLimitError, InvalidDatasetError
from rookery_vision.formats.model_directory import Preprocessing
from rookery_vision.pictures.decode import TooManyPixels, decode, size_of
from rookery_vision.pictures.limits import Limits

__all__ = ["normalized", "prepared", "to_shape"]


def prepared(data: bytes, prep: Preprocessing, size: Optional[tuple[int, int]] = None) -> Any:
    """(H, W, 3) bytes, as the network was trained on.

    Args:
        size: the (height, width) that the network was trained on. A picture of just that size is taken as it is: it has been prepared.
            Another one is resized and cut as `prep` says; where that says nothing, to cover the size, and the middle of it cut out.

    Raises:
        InvalidDatasetError: it is not a picture, or a damaged one.
        ImageExceedsLimitError: it has more pixels than allowed.
    """
    try:
        width, height = size_of(data, Limits.from_environment().pixels)
    except TooManyPixels as error:
        raise ImageExceedsLimitError(
            f"The picture has {error}; ROOKERY_VISION_MAX_PIXELS says how many are allowed."
        ) from error
    except (OSError, ValueError, SyntaxError) as error:
        raise InvalidDatasetError(_not_a_picture(data)) from error
    try:
        if (height, width) == size:
            return decode(data)
        if prep.crop:
            return center(_resized(data, (height, width), prep.resize), prep.crop)
        return _covering(data, (height, width), size) if size else decode(data)
    except (OSError, ValueError, SyntaxError) as error:
        raise InvalidDatasetError(f"The picture is damaged: {error}. Send a whole JPEG or PNG file.") from error


def normalized(batch_NHWC: Any, prep: Preprocessing) -> Any:
    """Bytes → float32 (N, C, H, W), as `network.to_input` makes them for torch."""
    scale = 1.0 / (255.0 * numpy.asarray(prep.std, dtype=numpy.float64))
    shift = -numpy.asarray(prep.mean, dtype=numpy.float64) / numpy.asarray(prep.std, dtype=numpy.float64)
    count, height, width, channels = batch_NHWC.shape
    x_NCHW = numpy.empty((count, channels, height, width), dtype=numpy.float32)
    for channel in range(channels):
        numpy.multiply(batch_NHWC[..., channel], numpy.float32(scale[channel]), out=x_NCHW[:, channel])
        x_NCHW[:, channel] += numpy.float32(shift[channel])
    return x_NCHW


def to_shape(picture: Any, shape: tuple[int, int]) -> Any:
    """Resized to (height, width); the same picture where it has that shape."""
    if picture.shape[:2] == shape:
        return picture
    from PIL import Image

    return numpy.asarray(Image.fromarray(picture).resize((shape[1], shape[0]), Image.Resampling.BILINEAR))


def _resized(data: bytes, shape: tuple[int, int], short_edge: Optional[int]) -> Any:
    """Decoded, its shorter edge of that length where one is given. `shape`: (height, width) of the file."""
    return to_shape(decode(data, short_edge=short_edge), resized_shape(*shape, short_edge))


def _covering(data: bytes, shape: tuple[int, int], size: tuple[int, int]) -> Any:
    """Resized so that it covers the size, and the middle of it cut out."""
    factor = max(size[0] / shape[0], size[1] / shape[1])
    target = (max(size[0], round(shape[0] * factor)), max(size[1], round(shape[1] * factor)))
    picture = to_shape(decode(data, short_edge=min(target)), target)
    top, left = (target[0] - size[0]) // 2, (target[1] - size[1]) // 2
    return picture[top : top + size[0], left : left + size[1]]


def _not_a_picture(data: bytes) -> str:
    return f"{len(data)} bytes that begin with {bytes(data[:8])!r} are not a picture. Send the bytes of a JPEG or PNG file."
