"""What is connected to Train PyTorch Model, looked at before anything is begun."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from rookery_vision.classification.presets import RESIZE_PER_CROP, Options
from rookery_vision.errors import GreaterThanOrEqualToError, InvalidDatasetError, LessThanOrEqualToError
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import ModelSpec, Preprocessing

__all__ = ["Data", "check_data", "check_sizes"]

SMALL = 32  # at this edge or less the last feature map is a single point


class Data(NamedTuple):
    spec: ModelSpec
    prep: Preprocessing
    training: ImageDirectory
    validation: ImageDirectory
    categories: list[str]
    train_labels: list[int]
    valid_labels: list[int]
    fingerprint: str


def check_data(training: str, validation: str, spec: ModelSpec, options: Options) -> Data:
    """
    Raises:
        NotLabeledDatasetError, InvalidDatasetError: a data set has no categories, no pictures, or validation others than training.
    """
    train, valid = ImageDirectory.read(training, is_labelled=True), ImageDirectory.read(validation, is_labelled=True)
    for which, directory in (("training", train), ("validation", valid)):
        if not directory.rows:
            raise InvalidDatasetError(f"The {which} data set {directory.folder} has no pictures.")
    seen = {row.category for row in train.rows}
    strange = sorted({str(row.category) for row in valid.rows if row.category not in seen})
    if strange:
        raise InvalidDatasetError(
            f"The validation data set has categories that the training data set has no pictures of: {', '.join(strange[:10])}. Both need "
            "the same categories: split one data set with Split Image Directory."
        )
    categories = [c for c in train.categories or [] if c in seen]
    places: dict[Any, int] = {name: i for i, name in enumerate(categories)}
    edge = options.image_size
    prep = spec.preprocessing
    if edge:
        prep = Preprocessing(prep.mean, prep.std, round(edge * RESIZE_PER_CROP), edge)
    labels = [[places[row.category] for row in d.rows] for d in (train, valid)]
    told = repr((spec.network, sorted(spec.init_params.items()), options, train.rows, valid.rows))
    fingerprint = hashlib.sha256(told.encode()).hexdigest()[:16]
    return Data(spec, prep, train, valid, categories, labels[0], labels[1], fingerprint)


def check_sizes(data: Data, options: Options, world: int) -> None:
    """
    Raises:
        LessThanOrEqualToError: more asked for at once than there are pictures.
        GreaterThanOrEqualToError: batches of one, which batch norm cannot use on pictures this small.
    """
    count = len(data.training.rows)
    if options.batch_size > count:
        raise LessThanOrEqualToError(
            f"Parameter 'Batch size' is {options.batch_size}, and there are {count} training pictures. Allowed: up to {count}."
        )
    for which, directory in (("training", data.training), ("validation", data.validation)):
        if world > len(directory.rows):
            raise LessThanOrEqualToError(
                f"{world} processes for {len(directory.rows)} {which} pictures. Use fewer nodes or processes per node, or more pictures."
            )
    edges = [data.prep.crop or max(row.height, row.width) for row in data.training.rows[:1]]
    if options.batch_size < 2 and edges[0] <= SMALL:
        raise GreaterThanOrEqualToError(
            f"Parameter 'Batch size' is 1. On pictures of {edges[0]} pixels batch norm needs at least 2 for each process."
        )
