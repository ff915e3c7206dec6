"""Join Data."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRANSFORMATION
from rookery_vision.declare import choice, columns, input_port, module, output_port, switch

__all__ = ["join_data"]

TYPES = ("Inner Join", "Left Outer Join", "Full Outer Join", "Left Semi-Join")


@module("Join Data", category=TRANSFORMATION, help="Puts rows of two tables side by side where their keys are equal.")
def join_data(
    left_dataset: Annotated[str, input_port("Left dataset", "DataFrameDirectory", help="Its columns come first.")],
    right_dataset: Annotated[
        str, input_port("Right dataset", "DataFrameDirectory", help="A name that is taken already gets (1) behind it.")
    ],
    results_dataset: Annotated[str, output_port("Results dataset", "DataFrameDirectory", help="The joined rows.")],
    left_keys: Annotated[str, columns("Join key columns for left dataset", help="Names with commas between.")],
    right_keys: Annotated[str, columns("Join key columns for right dataset", help="As many, in the same order.")],
    match_case: Annotated[bool, switch("Match case", help="Capitals count in keys of text.")] = True,
    join_type: Annotated[
        str, choice("Join type", help="Which rows stay; rows whose key is missing match none.", choices=TYPES)
    ] = "Inner Join",
    keep_right_keys: Annotated[
        bool, switch("Keep right key columns in joined table", help="Keys of the right table stay as columns.")
    ] = True,
) -> None:
    from rookery_tabular.frames import read_frame, write_frame
    from rookery_tabular.joining import join

    joined = join(
        read_frame(left_dataset),
        read_frame(right_dataset),
        left_keys,
        right_keys,
        match_case,
        join_type,
        keep_right_keys,
    )
    write_frame(results_dataset, joined)
