"""Sample Table."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import integer, module, output_port

__all__ = ["sample_table"]


@module(
    "Sample Table",
    category="Sample data",
    help="Makes up houses that were sold: size, rooms, year, town, garden and price, with gaps. Something to try a pipeline with.",
)
def sample_table(
    output_dataset: Annotated[str, output_port("Output dataset", "DataFrameDirectory", help="A row for each house.")],
    rows: Annotated[int, integer("Rows", low=10, high=1_000_000, help="How many houses.")] = 500,
    random_seed: Annotated[int, integer("Random seed", low=0, help="The same seed gives the same table.")] = 0,
) -> None:
    from rookery_tabular.sampling import make_houses

    make_houses(output_dataset, rows, random_seed)
