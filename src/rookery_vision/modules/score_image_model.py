"""Score Image Model."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import input_port, module, output_port
from rookery_vision.modules.categories import SCORE

__all__ = ["score_image_model"]


@module(
    "Score Image Model",
    category=SCORE,
    help="What a trained model says of pictures: a probability for each category, and a label.",
)
def score_image_model(
    trained_model: Annotated[str, input_port("Trained model", "ModelDirectory", help="From Train PyTorch Model.")],
    dataset: Annotated[
        str,
        input_port(
            "Dataset", "ImageDirectory", help="Pictures that were prepared as for training, with or without categories."
        ),
    ],
    scored_dataset: Annotated[str, output_port("Scored dataset", "DataFrameDirectory", help="A row for each picture.")],
) -> None:
    from rookery_vision.classification.score import score

    score(trained_model, dataset, scored_dataset)
