"""Import Data."""

from __future__ import annotations

from typing import Annotated, Optional

from rookery_tabular.modules.categories import INPUT_OUTPUT
from rookery_vision.declare import choice, input_port, module, output_port, switch, text

__all__ = ["import_data"]

FORMATS = ("By its ending", "CSV", "TSV", "Parquet", "JSON lines")


@module(
    "Import Data", category=INPUT_OUTPUT, help="Makes a table of files of a data set, or of what an address answers."
)
def import_data(
    dataset: Annotated[
        Optional[str],
        input_port(
            "Dataset",
            "AnyDirectory",
            "ZipFile",
            help="A data set with the files; without it, an address.",
            is_optional=True,
        ),
    ],
    results_dataset: Annotated[str, output_port("Results dataset", "DataFrameDirectory", help="The table.")],
    path: Annotated[
        str,
        text("Path or URL", help="Files below the data set, as a name or with * and ?; or an address, http or https."),
    ] = "",
    file_format: Annotated[str, choice("File format", help="What the files are.", choices=FORMATS)] = "By its ending",
    has_header: Annotated[bool, switch("Has header row", help="The first line of a CSV or TSV has the names.")] = True,
    encoding: Annotated[str, text("Encoding", help="Of text files.")] = "utf-8",
) -> None:
    from rookery_tabular.reading import import_table

    import_table(dataset, results_dataset, path, file_format, has_header, encoding)
