"""Export Data."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import INPUT_OUTPUT
from rookery_vision.declare import choice, input_port, module, output_port, text

__all__ = ["export_data"]


@module("Export Data", category=INPUT_OUTPUT, help="Writes a table as a file that other programs read.")
def export_data(
    dataset: Annotated[str, input_port("Dataset", "DataFrameDirectory", help="The table.")],
    exported: Annotated[
        str,
        output_port("Exported", "AnyDirectory", help="A folder with the file; register it as a data set to keep it."),
    ],
    file_name: Annotated[str, text("File name", help="Without its ending.")] = "data",
    file_format: Annotated[
        str, choice("File format", help="What to write.", choices=("CSV", "TSV", "Parquet", "JSON lines"))
    ] = "CSV",
) -> None:
    from rookery_tabular.writing import export_table

    export_table(dataset, exported, file_name, file_format)
