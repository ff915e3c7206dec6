"""TransformationDirectory: what is to be done to pictures, as a list of names and arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from rookery_vision.errors import InvalidTransformationDirectoryError
from rookery_vision.formats.meta import read_meta, write_meta

__all__ = ["Operation", "read_transformation", "write_transformation"]

KIND, FILE = "TransformationDirectory", "_transforms.json"

Operation = tuple[str, Any]  # the name of a class of torchvision, and a number, a list or a dict


def write_transformation(folder: str, operations: Sequence[Operation]) -> None:
    with open(os.path.join(folder, FILE), "w", encoding="utf-8") as f:
        json.dump([[name, arguments] for name, arguments in operations], f, indent=1)
    write_meta(folder, KIND, transform_type="Image", transforms=FILE)


def read_transformation(folder: str) -> list[Operation]:
    """The operations in order; whether they can be done is `transforms.operations`' to say.

    Raises:
        InvalidTransformationDirectoryError: it is not an image transformation.
    """
    meta = read_meta(folder) or {}
    if meta.get("type") != KIND or meta.get("transform_type") != "Image":
        found = (
            f"its transform_type is {meta.get('transform_type')!r}" if meta.get("type") == KIND else "it is none at all"
        )
        raise InvalidTransformationDirectoryError(
            f"{folder} is not an image transformation: {found}. Connect the output of Init Image Transformation."
        )
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8") as f:
            data = json.load(f)
        operations = [(str(name), arguments) for name, arguments in data]
    except (OSError, ValueError, TypeError) as error:
        raise InvalidTransformationDirectoryError(f"{folder} is damaged: {error}. Make it again.") from error
    return operations
