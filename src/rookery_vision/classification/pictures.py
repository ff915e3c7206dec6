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
from rookery_vision.formats.image_directory import ImageDirectory, ImageRow
from rookery_vision.formats.model_directory import Preprocessing
from rookery_vision.pictures import decoders

__all__ = ["Batch", "PictureSet"]

MOST_THREADS = 16
DETAIL = 1.25  # pictures to cut random parts of are kept this much larger: an average part is then not blown up, and as sharp as a whole one
TOLERATED = 1.5  # so much larger than that is better than resizing, which takes longer than decoding
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
        self._crops = bool(preprocessing.crop) and augmentation != "None"
        self._is_kept = with_cache
        self.cache = self._open_cache() if with_cache else None
        self._is_kept = self.cache is not None
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
        row, whole = self.directory.rows[place], self._decoded(place)
        if epoch is not None and self.augmentation != "None":
            chance = numpy.random.default_rng((self.seed, epoch, row.id))
            if self.prep.crop:
                return crop_and_flip(whole, self.prep.crop, chance)
            return flip(whole, chance)
        if not self.prep.crop:
            return whole
        return center(to_shape(whole, resized_shape(row.height, row.width, self.prep.resize)), self.prep.crop)

    def _decoded(self, place: int) -> Any:
        """Decoded and resized as it is kept."""
        kept = self.cache.get(place) if self.cache is not None else None
        if kept is not None:
            return kept
        row = self.directory.rows[place]
        shape = self._kept_shape(row)
        picture = to_shape(self.directory.decode(row, short_edge=min(shape) if self.prep.resize else None), shape)
        if self.cache is not None:
            self.cache.put(place, picture)
        return picture

    def _kept_shape(self, row: ImageRow) -> tuple[int, int]:
        """(height, width) of a picture between decoding and cutting. To cut parts of it: as it comes out of the decoder, where that is
        about right, else resized; never larger than it is, but for the edge that is asked for.
        """
        edge = self.prep.resize
        if not edge or not self._crops:
            return resized_shape(row.height, row.width, edge)
        wanted = max(edge, min(round(edge * DETAIL), row.height, row.width))
        if row.file_name.endswith((".jpg", ".jpeg")):
            # What is kept is better small, what is decoded in every epoch is better decoded soon.
            most = 0.0 if self._is_kept else wanted * TOLERATED
            comes = decoders.shape_of(row.height, row.width, wanted, most)
            if wanted <= min(comes) <= wanted * TOLERATED:
                return comes
        return resized_shape(row.height, row.width, wanted)

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
        shapes = [self._kept_shape(row) for row in self.directory.rows]
        paths = [self.directory.path(r) for r in self.directory.rows]
        try:
            return DecodedCache.open(content_key(paths, f"{sorted(set(shapes))}, {decoders.chosen()}"), shapes)
        except FileNotFoundError as error:
            raise InvalidDatasetError(f"{self.directory.folder} lacks {error.filename}. Make it again.") from error
