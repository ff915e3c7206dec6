"""Clean Missing Data."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRANSFORMATION
from rookery_vision.declare import choice, columns, input_port, module, number, output_port, switch, text

__all__ = ["clean_missing_data"]

MODES = (
    "Custom substitution value",
    "Replace with mean",
    "Replace with median",
    "Replace with mode",
    "Remove entire row",
    "Remove entire column",
)


@module(
    "Clean Missing Data",
    category=TRANSFORMATION,
    help="Fills in what is missing in a table, or takes its rows or columns out.",
)
def clean_missing_data(
    dataset: Annotated[str, input_port("Dataset", "DataFrameDirectory", help="The table.")],
    cleaned_dataset: Annotated[str, output_port("Cleaned dataset", "DataFrameDirectory", help="The cleaned table.")],
    cleaning_transformation: Annotated[
        str,
        output_port(
            "Cleaning transformation",
            "TransformationDirectory",
            help="The same for other rows, by Apply Transformation.",
        ),
    ],
    columns: Annotated[
        str, columns("Columns to be cleaned", help="Names with commas between; * and ?, or type:number.")
    ] = "*",
    minimum_ratio: Annotated[
        float, number("Minimum missing value ratio", low=0, high=1, help="Columns that miss less are left as they are.")
    ] = 0.0,
    maximum_ratio: Annotated[
        float, number("Maximum missing value ratio", low=0, high=1, help="Columns that miss more are left as they are.")
    ] = 1.0,
    mode: Annotated[str, choice("Cleaning mode", help="What is done.", choices=MODES)] = "Custom substitution value",
    replacement: Annotated[
        str, text("Replacement value", help="In columns of numbers a number.", when=("mode", MODES[0]))
    ] = "0",
    indicator: Annotated[
        bool, switch("Generate missing value indicator column", help="A column that says where a value was missing.")
    ] = False,
    all_missing: Annotated[
        str,
        choice(
            "Cols with all missing values",
            help="Without any value there is no mean, median or mode: take the column out, or leave it.",
            choices=("Remove", "Propagate"),
        ),
    ] = "Remove",
) -> None:
    from rookery_tabular.cleaning import learn_cleaning
    from rookery_tabular.frames import read_frame, write_frame
    from rookery_tabular.transforming import apply, write_steps

    frame = read_frame(dataset)
    steps = learn_cleaning(
        frame, columns, (minimum_ratio, maximum_ratio), mode, replacement, indicator, all_missing == "Remove"
    )
    write_frame(cleaned_dataset, apply(frame, steps))
    write_steps(cleaning_transformation, steps)
