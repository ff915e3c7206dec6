"""Score Model."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import SCORE
from rookery_vision.declare import input_port, module, output_port, switch

__all__ = ["score_model"]


@module("Score Model", category=SCORE, help="What a trained model says of the rows of a table.")
def score_model(
    trained_model: Annotated[str, input_port("Trained model", "ModelDirectory", help="From Train Model.")],
    dataset: Annotated[
        str, input_port("Dataset", "DataFrameDirectory", help="A table with the columns it was trained on.")
    ],
    scored_dataset: Annotated[
        str,
        output_port(
            "Scored dataset", "DataFrameDirectory", help="The rows with what the model says, for Evaluate Model."
        ),
    ],
    append: Annotated[
        bool,
        switch("Append score columns to output", help="Else only the scores and the label, without the other columns."),
    ] = True,
) -> None:
    from rookery_tabular.learning.scoring import score

    score(trained_model, dataset, scored_dataset, append)
