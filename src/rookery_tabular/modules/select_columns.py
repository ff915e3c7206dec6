"""Select Columns in Dataset."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRANSFORMATION
from rookery_vision.declare import choice, columns, input_port, module, output_port

__all__ = ["select_columns"]


@module(
    "Select Columns",
    category=TRANSFORMATION,
    help="Keeps some columns of a table, in the order in which they are named, or leaves some out.",
)
def select_columns(
    dataset: Annotated[str, input_port("Dataset", "DataFrameDirectory", help="The table.")],
    results_dataset: Annotated[str, output_port("Results dataset", "DataFrameDirectory", help="The chosen columns.")],
    columns: Annotated[
        str, columns("Columns", help="Names with commas between; * and ?, or type:number, type:text, type:time.")
    ],
    mode: Annotated[str, choice("Mode", help="What happens to them.", choices=("Include", "Exclude"))] = "Include",
) -> None:
    from rookery_tabular.frames import read_frame, write_frame
    from rookery_tabular.selecting import select

    write_frame(results_dataset, select(read_frame(dataset), columns, mode == "Exclude"))
