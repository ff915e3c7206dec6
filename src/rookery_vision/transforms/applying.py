"""Every picture of an image directory, transformed, as another image directory."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, TypeVar

from rookery_vision.errors import InvalidDatasetError
from rookery_vision.formats.image_directory import ImageDirectory, ImageDirectoryWriter, ImageRow
from rookery_vision.formats.transformation import read_transformation
from rookery_vision.transforms.operations import compile_operations, for_inference

__all__ = ["apply"]

SEED = 42
T = TypeVar("T")
U = TypeVar("U")


def apply(transformation: str, source: str, target: str, is_training: bool) -> None:
    """Write the transformed pictures as PNG. The same input gives the same output: chance is drawn from each picture's id."""
    from rookery_vision.stack import torch

    operations = read_transformation(transformation)
    run = compile_operations(operations if is_training else for_inference(operations))
    directory = ImageDirectory.read(source)
    if not directory.rows:
        raise InvalidDatasetError(f"{source} has no pictures.")
    writer = ImageDirectoryWriter(target, directory.categories)

    def transform(row: ImageRow, picture: Any) -> Any:
        torch.manual_seed(SEED + row.id)
        try:
            return run(picture)
        except InvalidDatasetError as error:
            raise InvalidDatasetError(f"{row.file_name}: {error}") from error

    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool, torch.random.fork_rng(devices=[]):
        pictures = _ahead(pool, directory.open_image, directory.rows)
        # Decoding and encoding in threads, the operations here: torchvision draws from one generator.
        done = (transform(row, picture) for row, picture in zip(directory.rows, pictures))
        for row, (data, width, height) in zip(directory.rows, _ahead(pool, _png, done)):
            name = writer.name_for(row.id, row.category, ".png")
            writer.add_bytes(data, ImageRow(row.id, name, width, height, row.category))
    writer.close()
    print(
        f"{len(directory.rows)} pictures transformed {'for training' if is_training else 'for inference'}", flush=True
    )


def _png(picture: Any) -> tuple[bytes, int, int]:
    stream = io.BytesIO()
    picture.convert("RGB").save(stream, "PNG", compress_level=1)  # three times as fast as the default, a tenth larger
    return stream.getvalue(), picture.width, picture.height


def _ahead(pool: ThreadPoolExecutor, function: Callable[[T], U], items: Iterable[T], window: int = 16) -> Iterator[U]:
    """map in threads, in order, with only a few results in memory."""
    waiting: deque[Any] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) >= window:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
