"""Operations by name → a function from picture to picture. Names and arguments are torchvision's (transforms v2)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Callable

from rookery_vision.errors import InvalidDatasetError, InvalidTransformationDirectoryError
from rookery_vision.formats.transformation import Operation

__all__ = ["ALLOWED", "compile_operations", "for_inference"]

Step = Callable[[Any], Any]

NOT_FOR_FILES = ("FiveCrop", "TenCrop", "Normalize")  # several pictures, or numbers that are no picture's any more
NOTHING_TO_DO = ("ToTensor", "ToPILImage")  # how pictures are held is ours to choose
ALLOWED = (
    "Resize", "CenterCrop", "Pad", "ColorJitter", "Grayscale", "RandomResizedCrop", "RandomCrop", "RandomHorizontalFlip",
    "RandomVerticalFlip", "RandomRotation", "RandomAffine", "RandomGrayscale", "RandomPerspective", "RandomErasing",
)  # fmt: skip


def for_inference(operations: Sequence[Operation]) -> list[Operation]:
    """Without what is random: scores must not depend on chance."""
    return [(name, args) for name, args in operations if not name.startswith("Random") and name != "ColorJitter"]


def compile_operations(operations: Sequence[Operation]) -> Step:
    """One function that does all of them, on Pillow pictures in RGB.

    Raises:
        InvalidTransformationDirectoryError: an operation is not known, or not with these arguments.
    """
    steps = [_step(name, args) for name, args in operations if name not in NOTHING_TO_DO]

    def run(picture: Any) -> Any:
        for step in steps:
            picture = step(picture)
        return picture

    return run


def _step(name: str, arguments: Any) -> Step:
    if name in NOT_FOR_FILES:
        raise InvalidTransformationDirectoryError(
            f"The transformation has {name}, whose result cannot be kept as a picture. Allowed: {', '.join(ALLOWED)}."
        )
    if name not in ALLOWED:
        raise InvalidTransformationDirectoryError(f"The transformation has {name!r}. Allowed: {', '.join(ALLOWED)}.")
    from rookery_vision.stack import v2

    cls = getattr(v2, name)
    try:
        operation = cls(**_keywords(cls, arguments))
    except (TypeError, ValueError) as error:
        raise InvalidTransformationDirectoryError(f"{name} with {arguments!r}: {error}.") from error
    if name in ("CenterCrop", "RandomCrop"):
        return _crop(name, operation)
    return _on_tensor(operation) if name == "RandomErasing" else operation


def _keywords(cls: Any, arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if isinstance(arguments, dict):
        return arguments
    first = next(name for name in inspect.signature(cls.__init__).parameters if name != "self")
    return {first: arguments}


def _crop(name: str, operation: Any) -> Step:
    """torchvision fills up what is too small with black; that is never what was meant."""
    height, width = operation.size

    def crop(picture: Any) -> Any:
        if picture.height < height or picture.width < width:
            raise InvalidDatasetError(
                f"{name} to {width} × {height} is larger than the picture, which has {picture.width} × {picture.height} by then. Choose "
                "a smaller crop, or resize first."
            )
        return operation(picture)

    return crop


def _on_tensor(operation: Any) -> Step:
    from rookery_vision.stack import v2

    def run(picture: Any) -> Any:
        return v2.functional.to_pil_image(operation(v2.functional.pil_to_tensor(picture)))

    return run
