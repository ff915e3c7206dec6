"""Split Image Directory."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import input_port, module, number, output_port
from rookery_vision.modules.categories import IMAGE_DATA

__all__ = ["split_image_directory"]


@module(
    "Split Image Directory",
    category=IMAGE_DATA,
    help="Splits an image directory in two, each category in the same proportion, always the same way.",
)
def split_image_directory(
    input_image_directory: Annotated[str, input_port("Input image directory", "ImageDirectory", help="What to split.")],
    output_image_directory1: Annotated[
        str, output_port("Output image directory1", "ImageDirectory", help="The chosen fraction.")
    ],
    output_image_directory2: Annotated[str, output_port("Output image directory2", "ImageDirectory", help="The rest.")],
    fraction: Annotated[
        float,
        number(
            "Fraction of images in the first output",
            low=0,
            high=1,
            help="How much goes to the first output; where that is no whole number of pictures, the smaller one.",
        ),
    ] = 0.9,
) -> None:
    from rookery_vision.formats.splitting import split

    split(input_image_directory, output_image_directory1, output_image_directory2, fraction)
