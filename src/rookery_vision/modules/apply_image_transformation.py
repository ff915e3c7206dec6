"""Apply Image Transformation."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import choice, input_port, module, output_port
from rookery_vision.modules.categories import IMAGE_DATA

__all__ = ["apply_image_transformation"]

TRAINING, INFERENCE = "For training", "For inference"


@module(
    "Apply Image Transformation",
    category=IMAGE_DATA,
    help="Does to every picture what Init Image Transformation said, and keeps the results as PNG.",
)
def apply_image_transformation(
    input_image_transformation: Annotated[
        str, input_port("Input image transformation", "TransformationDirectory", help="From Init Image Transformation.")
    ],
    input_image_directory: Annotated[str, input_port("Input image directory", "ImageDirectory", help="The pictures.")],
    output_image_directory: Annotated[
        str, output_port("Output image directory", "ImageDirectory", help="The transformed pictures.")
    ],
    mode: Annotated[
        str, choice("Mode", "For inference leaves out everything that is random.", choices=(TRAINING, INFERENCE))
    ],
) -> None:
    from rookery_vision.transforms.applying import apply

    apply(input_image_transformation, input_image_directory, output_image_directory, is_training=mode == TRAINING)
