"""The decoders of JPEG that may be installed, and which of them is fastest on this machine.

Timed once, on a picture like the many; the answer is kept (`probes.py`), because two decoders may differ in the last bit and the same seed
is to give the same weights. `python -m benchmarks vision` has the speeds.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import io
import sys
from typing import Any, Optional

from rookery_vision.probes import fastest, kept, seconds_of

__all__ = ["ORDER", "PILLOW", "available", "chosen", "decode_with", "settle", "shape_of", "to_rgb"]

PILLOW = "pillow"
ORDER = ("simplejpeg", "opencv", "torchvision", PILLOW)  # where two are as fast, the earlier one
_DISTRIBUTIONS = {
    "simplejpeg": ("simplejpeg",),
    "opencv": ("opencv-python-headless", "opencv-python"),
    PILLOW: ("pillow",),
}
# Whole, and at half the size: what else is needed is decoded to a size between, which costs one decoder more and another one less, and
# says nothing of the resizing that follows.
PROBE_SIZE, PROBE_EDGES, PROBE_TIMES = (500, 375), (375, 188), 7
QUICK = (1, 2, 4, 8)  # eighths that libjpeg has vector instructions for: seven eighths take twice as long as the whole


_settled: Optional[str] = None


def chosen() -> str:
    """The name of the one to use: the fastest, or what `settle` has said."""
    return _settled or _fastest()


def settle(name: Optional[str]) -> None:
    """Use this one from now on, where it is here: a training that goes on is to see the same pictures. None: the fastest again."""
    global _settled
    _settled = name if name in available() else None


@functools.lru_cache(maxsize=1)
def _fastest() -> str:
    names = available()
    if names == [PILLOW]:
        return PILLOW
    about = {"versions": {name: _version(name) for name in names}, "edges": list(PROBE_EDGES)}
    return str(kept("decoder", about, _measure)["chosen"])


@functools.lru_cache(maxsize=1)
def available() -> list[str]:
    """Those that work here: a decoder counts once it has decoded."""
    sample = _sample()
    found = []
    for name in ORDER:
        if name == "torchvision" and "torch" not in sys.modules:
            continue  # who scores without torch is not to load it for this
        try:
            if decode_with(name, sample, None).shape == (PROBE_SIZE[1], PROBE_SIZE[0], 3):
                found.append(name)
        except Exception:  # not installed, or not for this machine: whatever it says, it is not used
            continue
    return found


def decode_with(name: str, data: bytes, short_edge: Optional[int]) -> Any:
    """(height, width, 3) by that decoder.

    Raises:
        ValueError: it cannot read this one.
    """
    return {"simplejpeg": _simplejpeg, "opencv": _opencv, "torchvision": _torchvision, PILLOW: _pillow}[name](
        data, short_edge
    )


def shape_of(height: int, width: int, least: int, most: float = 0.0) -> tuple[int, int]:
    """(height, width) that a JPEG of this size comes out of the chosen decoder with, when its shorter edge is to keep `least` pixels: as few
    as that allows, or as many as come out soonest, up to `most`. Where it is not what comes out, the picture has to be resized: slower, not
    wrong.
    """
    name, edge = chosen(), min(height, width)
    eighths = 8
    if name == "simplejpeg":
        fitting = [k for k in range(1, 9) if -(-edge * k // 8) >= least] or [8]
        eighths = next((k for k in fitting if k in QUICK and -(-edge * k // 8) <= most), fitting[0])
    elif name in ("opencv", PILLOW) and edge >= least:
        eighths = 8 // _power_of_two(edge, least)
    return -(-height * eighths // 8), -(-width * eighths // 8)


def to_rgb(picture: Any) -> Any:
    if picture.mode == "P" and "transparency" in picture.info:
        picture = picture.convert("RGBA")
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def _simplejpeg(data: bytes, short_edge: Optional[int]) -> Any:
    least = short_edge or 0
    return _module("simplejpeg").decode_jpeg(data, "RGB", min_height=least, min_width=least)


def _opencv(data: bytes, short_edge: Optional[int]) -> Any:
    import numpy

    cv2 = _module("cv2")
    if not short_edge:
        flag = cv2.IMREAD_COLOR
    else:
        scale = _power_of_two(min(_size(data)), short_edge)
        flag = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4}.get(
            scale, cv2.IMREAD_REDUCED_COLOR_8
        )
    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), flag | cv2.IMREAD_IGNORE_ORIENTATION)
    if picture is None:
        raise ValueError("OpenCV cannot read it")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)


def _torchvision(data: bytes, short_edge: Optional[int]) -> Any:
    import numpy

    from rookery_vision.stack import torch

    io_module = _module("torchvision.io")
    coded = torch.from_numpy(numpy.frombuffer(data, numpy.uint8).copy())
    try:
        return io_module.decode_jpeg(coded, mode=io_module.ImageReadMode.RGB).permute(1, 2, 0).contiguous().numpy()
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _pillow(data: bytes, short_edge: Optional[int]) -> Any:
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        scale = _power_of_two(min(picture.size), short_edge) if short_edge else 1
        if scale > 1:
            picture.draft("RGB", (picture.width // scale, picture.height // scale))
        return numpy.array(to_rgb(picture))


def _power_of_two(edge: int, least: int) -> int:
    """By how much an edge may be decoded smaller: 1, 2, 4 or 8."""
    return max(s for s in QUICK if s == 1 or -(-edge // s) >= least)


def _size(data: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        return picture.size


@functools.cache
def _module(name: str) -> Any:
    return importlib.import_module(name)


def _measure() -> dict[str, Any]:
    sample = _sample()
    times = {
        name: sum(seconds_of(lambda: decode_with(name, sample, edge), PROBE_TIMES) for edge in PROBE_EDGES)  # noqa: B023
        for name in available()
    }
    return {"chosen": fastest(times, ORDER), "times_ms": {name: 1000 * t for name, t in times.items()}}


@functools.lru_cache(maxsize=1)
def _sample() -> bytes:
    """A picture with edges and soft parts, as a camera's; noise alone would decode slower than any."""
    import numpy
    from PIL import Image

    noise = numpy.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).resize(PROBE_SIZE).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def _version(name: str) -> str:
    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "unknown"
