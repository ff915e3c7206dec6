"""Apply Transformation."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRANSFORMATION
from rookery_vision.declare import input_port, module, output_port

__all__ = ["apply_transformation"]


@module(
    "Apply Transformation",
    category=TRANSFORMATION,
    help="Does to a table what Clean Missing Data or Normalize Data has learned from another one.",
)
def apply_transformation(
    transformation: Annotated[
        str, input_port("Transformation", "TransformationDirectory", help="From Clean Missing Data or Normalize Data.")
    ],
    dataset: Annotated[str, input_port("Dataset", "DataFrameDirectory", help="A table with the same columns.")],
    transformed_dataset: Annotated[str, output_port("Transformed dataset", "DataFrameDirectory", help="The result.")],
) -> None:
    from rookery_tabular.frames import read_frame, write_frame
    from rookery_tabular.transforming import apply, read_steps

    write_frame(transformed_dataset, apply(read_frame(dataset), read_steps(transformation)))
