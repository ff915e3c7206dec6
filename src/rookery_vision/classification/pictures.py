"""Pictures of an image directory as batches: decoded by threads ahead of the network, bytes until the last moment.

Shapes: N pictures in a batch, H height, W width, C = 3 channels. `batch_NHWC` are bytes, `x_NCHW` what the network takes.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Optional

import numpy

from rookery_vision.classification.augment import center, crop_and_flip, flip, resized_shape
from rookery_vision.classification.cache import DecodedCache, content_key
from rookery_vision.classification.prepare import to_shape
from rookery_vision.declare import launched
from rookery_vision.errors import InvalidDatasetError
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import Preprocessing
from rookery_vision.pictures import decoders

__all__ = ["Batch", "PictureSet"]

MOST_THREADS = 16
AHEAD = 3  # batches that are ready before they are asked for


class Batch(NamedTuple):
    batch_NHWC: Any
    labels: Any
    waited_s: float  # how long the network had to wait for it


def num_threads() -> int:
    """Decoders of this process: its share of the processors that it may use."""
    return max(1, min(MOST_THREADS, len(os.sched_getaffinity(0)) // launched.local_world_size()))


class PictureSet:
    """The pictures of one directory. Whatever is random about a picture is drawn from (seed, epoch, id) and nothing else, so
    neither threads nor ranks nor a restart change a result.
    """

    def __init__(
        self,
        directory: ImageDirectory,
        preprocessing: Preprocessing,
        labels: Optional[Sequence[int]] = None,
        augmentation: str = "None",
        seed: int = 0,
        with_cache: bool = True,
    ) -> None:
        self.directory, self.prep, self.seed, self.augmentation = directory, preprocessing, seed, augmentation
        self.labels = numpy.asarray(labels if labels is not None else [-1] * len(directory.rows), dtype=numpy.int64)
        self.size = self._common_size()
        self.cache = self._open_cache() if with_cache else None
        self._pool = ThreadPoolExecutor(max_workers=num_threads())

    def __len__(self) -> int:
        return len(self.directory.rows)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self.cache is not None:
            self.cache.close()

    def batches(self, groups: Sequence[Sequence[int]], epoch: Optional[int] = None) -> Iterator[Batch]:
        """A batch for each group of places. With an epoch pictures are augmented, without one they are not."""
        waiting: deque[tuple[Sequence[int], list[Any]]] = deque()
        coming = iter(groups)

        def order() -> None:
            for group in coming:
                waiting.append((group, [self._pool.submit(self.picture, i, epoch) for i in group]))
                return

        for _ in range(AHEAD):
            order()
        try:
            while waiting:
                start = time.perf_counter()
                group, futures = waiting.popleft()
                pictures = [future.result() for future in futures]
                order()
                batch_NHWC = numpy.stack(pictures)
                yield Batch(batch_NHWC, self.labels[list(group)], time.perf_counter() - start)
        finally:
            for _, futures in waiting:
                for future in futures:
                    future.cancel()

    def picture(self, place: int, epoch: Optional[int] = None) -> Any:
        """One picture (H, W, C) as the network gets it, still in bytes."""
        whole = self._decoded(place)
        if epoch is not None and self.augmentation != "None":
            chance = numpy.random.default_rng((self.seed, epoch, self.directory.rows[place].id))
            if self.prep.crop:
                return crop_and_flip(whole, self.prep.crop, chance)
            return flip(whole, chance)
        return center(whole, self.prep.crop) if self.prep.crop else whole

    def _decoded(self, place: int) -> Any:
        """Decoded, its shorter edge resized where that is asked for."""
        kept = self.cache.get(place) if self.cache is not None else None
        if kept is not None:
            return kept
        row = self.directory.rows[place]
        shape = resized_shape(row.height, row.width, self.prep.resize)
        picture = to_shape(self.directory.decode(row, short_edge=self.prep.resize), shape)
        if self.cache is not None:
            self.cache.put(place, picture)
        return picture

    def _common_size(self) -> tuple[int, int]:
        """(height, width) of every picture as the network gets it.

        Raises:
            InvalidDatasetError: they differ, and nothing says how to make them alike.
        """
        if self.prep.crop:
            return self.prep.crop, self.prep.crop
        sizes = {(row.height, row.width) for row in self.directory.rows}
        if len(sizes) > 1:
            a, b = sorted(sizes)[:2]
            raise InvalidDatasetError(
                f"{self.directory.folder} has pictures of {len(sizes)} sizes ({a[1]} × {a[0]} and {b[1]} × {b[0]} among them). Make them alike "
                "with Init Image Transformation and Apply Image Transformation, or give Train PyTorch Model an 'Image size'."
            )
        return next(iter(sizes), (0, 0))

    def _open_cache(self) -> Optional[DecodedCache]:
        shapes = [resized_shape(r.height, r.width, self.prep.resize) for r in self.directory.rows]
        paths = [self.directory.path(r) for r in self.directory.rows]
        try:
            return DecodedCache.open(content_key(paths, f"short edge {self.prep.resize}, {decoders.chosen()}"), shapes)
        except FileNotFoundError as error:
            raise InvalidDatasetError(f"{self.directory.folder} lacks {error.filename}. Make it again.") from error
