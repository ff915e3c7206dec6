"""Normalize Data."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRANSFORMATION
from rookery_vision.declare import choice, columns, input_port, module, output_port, switch

__all__ = ["normalize_data"]

METHODS = ("ZScore", "MinMax", "Logistic", "LogNormal", "Tanh")


@module("Normalize Data", category=TRANSFORMATION, help="Brings columns of numbers to one scale.")
def normalize_data(
    dataset: Annotated[str, input_port("Dataset", "DataFrameDirectory", help="The table.")],
    transformed_dataset: Annotated[
        str, output_port("Transformed dataset", "DataFrameDirectory", help="On the new scale.")
    ],
    transformation_function: Annotated[
        str,
        output_port(
            "Transformation function",
            "TransformationDirectory",
            help="The same for other rows, by Apply Transformation.",
        ),
    ],
    method: Annotated[str, choice("Transformation method", help="How.", choices=METHODS)] = "ZScore",
    constant_to_zero: Annotated[
        bool,
        switch(
            "Use 0 for constant columns when checked", help="Else a column with one value only becomes missing values."
        ),
    ] = True,
    columns: Annotated[
        str, columns("Columns to transform", help="Names with commas between; * and ?, or type:number.")
    ] = ("type:number"),
) -> None:
    from rookery_tabular.frames import read_frame, write_frame
    from rookery_tabular.normalizing import learn_scale
    from rookery_tabular.transforming import apply, write_steps

    frame = read_frame(dataset)
    steps = learn_scale(frame, columns, method, constant_to_zero)
    write_frame(transformed_dataset, apply(frame, steps))
    write_steps(transformation_function, steps)
