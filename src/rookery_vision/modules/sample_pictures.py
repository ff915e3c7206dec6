"""Sample Pictures."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import integer, module, output_port

__all__ = ["sample_pictures"]


@module(
    "Sample Pictures",
    category="Sample data",
    help="Draws pictures of chickens and turkeys, a folder for each: something to try a pipeline with.",
)
def sample_pictures(
    output_dataset: Annotated[
        str, output_port("Output dataset", "AnyDirectory", help="A folder of pictures for each of the two categories.")
    ],
    count: Annotated[
        int, integer("Pictures of each category", low=2, high=5000, help="How many are drawn of each.")
    ] = 60,
    size: Annotated[int, integer("Size", low=16, high=1024, help="Width and height of every picture.")] = 96,
    random_seed: Annotated[int, integer("Random seed", low=0, help="The same seed gives the same pictures.")] = 0,
) -> None:
    from rookery_vision.pictures.drawing import draw_pictures

    draw_pictures(output_dataset, count, size, random_seed)
