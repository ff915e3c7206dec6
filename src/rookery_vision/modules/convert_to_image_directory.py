"""Convert to Image Directory."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import input_port, module, output_port
from rookery_vision.modules.categories import IMAGE_DATA

__all__ = ["convert_to_image_directory"]


@module(
    "Convert to Image Directory",
    category=IMAGE_DATA,
    help="Makes an image directory of a folder or an archive: <category>/<file>, COCO annotations, or just pictures.",
)
def convert_to_image_directory(
    input_dataset: Annotated[
        str,
        input_port(
            "Input dataset",
            "AnyDirectory",
            "ZipFile",
            help="A folder, or a .zip, .tar, .gz or .bz2 (or a folder with one in it).",
        ),
    ],
    output_image_directory: Annotated[
        str,
        output_port(
            "Output image directory", "ImageDirectory", help="The pictures; _skipped.json says what was left out."
        ),
    ],
) -> None:
    from rookery_vision.formats.converting import convert

    convert(input_dataset, output_image_directory)
