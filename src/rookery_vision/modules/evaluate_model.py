"""Evaluate Model."""

from __future__ import annotations

from typing import Annotated, Optional

from rookery_vision.declare import input_port, module, output_port
from rookery_vision.modules.categories import SCORE

__all__ = ["evaluate_model"]


@module("Evaluate Model", category=SCORE, help="How good scores are; two scored data sets are compared row by row.")
def evaluate_model(
    scored_dataset: Annotated[str, input_port("Scored dataset", "DataFrameDirectory", help="From Score Image Model.")],
    scored_dataset_to_compare: Annotated[
        Optional[str],
        input_port(
            "Scored dataset to compare",
            "DataFrameDirectory",
            help="Another model's, of the same kind.",
            is_optional=True,
        ),
    ],
    evaluation_results: Annotated[
        str, output_port("Evaluation results", "DataFrameDirectory", help="A row for each input, the left one first.")
    ],
) -> None:
    from rookery_vision.evaluation.evaluating import evaluate

    evaluate(scored_dataset, scored_dataset_to_compare, evaluation_results)
