"""Scoring: what a trained model says of pictures."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy

from rookery_vision.classification.network import make_network, to_input
from rookery_vision.classification.pictures import PictureSet
from rookery_vision.classification.prepare import prepared
from rookery_vision.errors import InvalidDatasetError, InvalidModelDirectoryError
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import SPEC, TASK, read_labels, read_model_spec, read_state
from rookery_vision.formats.table import Column, write_table
from rookery_vision.stack import torch

__all__ = ["Model", "score"]

BATCH = 32


def score(model: str, dataset: str, output: str) -> None:
    """Write a row for each picture: its category and id, the probability of every category, the label."""
    trained = _opened(model, _stamp(model))
    directory = ImageDirectory.read(dataset)
    if not directory.rows:
        raise InvalidDatasetError(f"{dataset} has no pictures to score.")
    probabilities = trained.score(directory)
    columns = []
    if directory.categories is not None:
        columns.append(Column("category", [row.category for row in directory.rows], "label"))
    columns.append(Column("id", [row.id for row in directory.rows]))
    for place, name in enumerate(trained.categories):
        values = probabilities[:, place].tolist()
        columns.append(Column(f"Scored Probabilities_{name}", values, "scored_probabilities", name))
    labels = [trained.categories[i] for i in probabilities.argmax(1)]
    columns.append(Column("Scored Labels", labels, "scored_labels"))
    write_table(output, columns, TASK)
    print(f"{len(labels)} pictures scored", flush=True)


@functools.lru_cache(maxsize=4)
def _opened(folder: str, _stamp: int) -> Model:
    """A service scores again and again with the same model."""
    return Model(folder)


def _stamp(folder: str) -> int:
    try:
        return os.stat(os.path.join(folder, SPEC)).st_mtime_ns
    except OSError:
        return 0  # opening it says what is wrong


class Model:
    """A ModelDirectory, ready to score.

    Raises:
        InvalidModelDirectoryError, UntrainedModelError: it is not a trained image model.
    """

    def __init__(self, folder: str) -> None:
        self.spec = read_model_spec(folder, is_trained=True)
        self.categories = read_labels(folder)
        state = read_state(folder)
        if state is None or len(self.categories) != self.spec.num_classes:
            raise InvalidModelDirectoryError(f"{folder} lacks its weights or labels. Train the model again.")
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = make_network(self.spec, len(self.categories), state).to(self.device).eval()

    def score(self, directory: ImageDirectory) -> Any:
        """Probabilities (N, categories) of a directory's pictures.

        Raises:
            InvalidDatasetError: its pictures differ in size.
        """
        pictures = PictureSet(directory, self.spec.preprocessing, with_cache=False)
        try:
            places = range(len(pictures))
            groups = [list(places[i : i + BATCH]) for i in range(0, len(pictures), BATCH)]
            return numpy.concatenate([self.probabilities(b.batch_NHWC) for b in pictures.batches(groups)])
        finally:
            pictures.close()

    def score_bytes(self, files: Sequence[bytes]) -> Any:
        """Probabilities of encoded pictures, each prepared as for training (`prepare.py`)."""
        size = self.spec.image_size
        return numpy.concatenate([self.probabilities(prepared(f, self.spec.preprocessing, size)[None]) for f in files])

    @torch.inference_mode()
    def probabilities(self, batch_NHWC: Any) -> Any:
        x_NCHW = to_input(numpy.ascontiguousarray(batch_NHWC), self.spec.preprocessing, self.device)
        return self.network(x_NCHW).float().softmax(1).cpu().numpy()
