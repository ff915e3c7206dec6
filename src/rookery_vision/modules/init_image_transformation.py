"""Init Image Transformation."""

from __future__ import annotations

from typing import Annotated, Any

from rookery_vision.declare import integer, module, output_port, switch
from rookery_vision.modules.categories import IMAGE_DATA

__all__ = ["init_image_transformation"]

JITTER = 0.4  # torchvision's default is 0, which changes nothing


@module(
    "Init Image Transformation",
    category=IMAGE_DATA,
    help="Says what is to be done to pictures, in this order. What is random is left out when it is applied for inference.",
)
def init_image_transformation(
    output_image_transformation: Annotated[
        str,
        output_port("Output image transformation", "TransformationDirectory", help="For Apply Image Transformation."),
    ],
    resize: Annotated[bool, switch("Resize", "Resize the picture, keeping its proportions.")] = True,
    size: Annotated[int, integer("Size", "Length of the shorter edge afterwards.", low=1, when=("resize", True))] = 256,
    center_crop: Annotated[bool, switch("Center crop", "Cut a square out of the middle.")] = True,
    crop_size: Annotated[int, integer("Crop size", "Edge of that square.", low=1, when=("center_crop", True))] = 224,
    pad: Annotated[bool, switch("Pad", "Add a black border on all sides.")] = False,
    padding: Annotated[int, integer("Padding", "Pixels on each border.", low=0, when=("pad", True))] = 0,
    color_jitter: Annotated[
        bool, switch("Color jitter", f"Change brightness, contrast and saturation at random, by up to {JITTER:.0%}.")
    ] = False,
    grayscale: Annotated[bool, switch("Grayscale", "Take the colour away; three channels stay.")] = False,
    random_resized_crop: Annotated[
        bool,
        switch(
            "Random resized crop",
            "Cut out 8 to 100 % of the area, of proportions 3:4 to 4:3, and resize it to a square.",
        ),
    ] = False,
    random_size: Annotated[
        int, integer("Random size", "Edge of that square.", low=1, when=("random_resized_crop", True))
    ] = 256,
    random_crop: Annotated[bool, switch("Random crop", "Cut a square out at a random place.")] = False,
    random_crop_size: Annotated[
        int, integer("Random crop size", "Edge of that square.", low=1, when=("random_crop", True))
    ] = 224,
    random_horizontal_flip: Annotated[bool, switch("Random horizontal flip", "Mirror every second picture.")] = True,
    random_vertical_flip: Annotated[bool, switch("Random vertical flip", "Turn every second one upside down.")] = False,
    random_rotation: Annotated[bool, switch("Random rotation", "Turn it by a random angle.")] = False,
    random_rotation_degrees: Annotated[
        int,
        integer("Random rotation degrees", "From minus this to this.", low=0, high=180, when=("random_rotation", True)),
    ] = 0,
    random_affine: Annotated[bool, switch("Random affine", "Transform it at random, its centre kept.")] = False,
    random_affine_degrees: Annotated[
        int,
        integer(
            "Random affine degrees", "Turned from minus this to this.", low=0, high=180, when=("random_affine", True)
        ),
    ] = 0,
    random_grayscale: Annotated[bool, switch("Random grayscale", "Take the colour away from every tenth.")] = False,
    random_perspective: Annotated[
        bool, switch("Random perspective", "Show every second one from a random side.")
    ] = False,
    random_erasing: Annotated[bool, switch("Random erasing", "Erase a random rectangle of every second one.")] = False,
) -> None:
    from rookery_vision.formats.transformation import write_transformation

    chosen: list[tuple[bool, str, Any]] = [
        (resize, "Resize", size),
        (center_crop, "CenterCrop", crop_size),
        (pad, "Pad", padding),
        (color_jitter, "ColorJitter", {"brightness": JITTER, "contrast": JITTER, "saturation": JITTER}),
        (grayscale, "Grayscale", {"num_output_channels": 3}),
        (
            random_resized_crop,
            "RandomResizedCrop",
            {"size": random_size, "scale": [0.08, 1.0], "ratio": [3 / 4, 4 / 3]},
        ),
        (random_crop, "RandomCrop", random_crop_size),
        (random_horizontal_flip, "RandomHorizontalFlip", 0.5),
        (random_vertical_flip, "RandomVerticalFlip", 0.5),
        (random_rotation, "RandomRotation", random_rotation_degrees),
        (random_affine, "RandomAffine", random_affine_degrees),
        (random_grayscale, "RandomGrayscale", 0.1),
        (random_perspective, "RandomPerspective", {"p": 0.5}),
        (random_erasing, "RandomErasing", 0.5),
    ]
    write_transformation(output_image_transformation, [(name, args) for wanted, name, args in chosen if wanted])
