"""Train Model."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRAIN
from rookery_vision.declare import columns, input_port, module, output_port

__all__ = ["train_model"]


@module(
    "Train Model",
    category=TRAIN,
    help="Trains a classifier or a regression on a table that says what is to be found out.",
)
def train_model(
    untrained_model: Annotated[
        str, input_port("Untrained model", "UntrainedModelDirectory", help="From one of the algorithms for tables.")
    ],
    dataset: Annotated[
        str, input_port("Dataset", "DataFrameDirectory", help="The table; every other column is learned from.")
    ],
    trained_model: Annotated[
        str, output_port("Trained model", "ModelDirectory", help="The model, with the columns that it takes.")
    ],
    label_column: Annotated[str, columns("Label column", help="The one column that is to be found out.")],
) -> None:
    from rookery_tabular.learning.training import train

    train(untrained_model, dataset, trained_model, label_column)
