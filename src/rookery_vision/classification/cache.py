"""Decoded pictures on disk, memory-mapped and addressed by content: from the second epoch on nothing is decoded.

One folder per data set and size: `pixels.bin` (every picture at a place that is known beforehand), `done.bin` (a byte a picture: it
is there). Ranks of one machine share it: two that decode the same picture write the same bytes to the same place.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

__all__ = ["DecodedCache", "cache_root", "content_key"]

FREE_SHARE = 0.5  # of the free disk, at most
KEEP_BYTES = 100 * 1024**3  # caches beyond this are removed, those not used for the longest time first
LOCK = "in_use.lock"


def cache_root() -> str:
    """`ROOKERY_VISION_CACHE`, or below the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("ROOKERY_VISION_CACHE") or os.path.join(home, "rookery", "vision")


def content_key(paths: Sequence[str], how: str) -> str:
    """The hash of all files' bytes, in order, and of what is done to them."""

    def digest(path: str) -> bytes:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).digest()

    whole = hashlib.sha256(how.encode())
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        for one in pool.map(digest, paths):
            whole.update(one)
    return whole.hexdigest()[:32]


class DecodedCache:
    """Pictures of known shapes by their number."""

    def __init__(self, folder: str, shapes: Sequence[tuple[int, int]]) -> None:
        import numpy

        os.makedirs(folder, exist_ok=True)
        self.folder, self.shapes = folder, list(shapes)
        sizes = numpy.array([0] + [h * w * 3 for h, w in self.shapes], dtype=numpy.int64)
        self._places = numpy.cumsum(sizes)
        self._lock = open(os.path.join(folder, LOCK), "a")  # noqa: SIM115 - held as long as the cache is used
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        os.utime(folder)
        self._pixels = _mapped(os.path.join(folder, "pixels.bin"), int(self._places[-1]))
        self._done = _mapped(os.path.join(folder, "done.bin"), len(self.shapes))

    @classmethod
    def open(cls, key: str, shapes: Sequence[tuple[int, int]]) -> Optional[DecodedCache]:
        """The cache of that content, or None where the disk has no room for it."""
        root = cache_root()
        folder = os.path.join(root, key)
        needed = sum(h * w * 3 for h, w in shapes)
        try:
            os.makedirs(root, exist_ok=True)
            if not os.path.isdir(folder):
                _make_room(root, needed)
                if needed > shutil.disk_usage(root).free * FREE_SHARE:
                    return None
            return cls(folder, shapes)
        except OSError:
            return None

    def get(self, number: int) -> Optional[Any]:
        """The picture, or None where it has not been put there yet."""
        if not self._done[number]:
            return None
        height, width = self.shapes[number]
        return self._pixels[self._places[number] : self._places[number + 1]].reshape(height, width, 3)

    def put(self, number: int, picture: Any) -> None:
        self._pixels[self._places[number] : self._places[number + 1]] = picture.reshape(-1)
        self._done[number] = 1

    def close(self) -> None:
        self._pixels = self._done = None
        self._lock.close()


def _mapped(path: str, size: int) -> Any:
    import numpy

    if not os.path.exists(path) or os.path.getsize(path) != size:
        with open(path, "ab") as f:
            f.truncate(size)
    return numpy.memmap(path, dtype=numpy.uint8, mode="r+", shape=(size,))


def _make_room(root: str, needed: int) -> None:
    """Remove what has not been used for the longest time, and is not used now, until all together are within the limit."""
    found = []
    for name in os.listdir(root):
        with contextlib.suppress(OSError):
            folder = os.path.join(root, name)
            used = sum(os.stat(os.path.join(folder, n)).st_blocks * 512 for n in os.listdir(folder))
            found.append((os.path.getmtime(folder), folder, used))
    total = needed + sum(used for _, _, used in found)
    for _, folder, used in sorted(found):
        if total <= KEEP_BYTES:
            return
        with contextlib.suppress(OSError), open(os.path.join(folder, LOCK), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
            total -= used
