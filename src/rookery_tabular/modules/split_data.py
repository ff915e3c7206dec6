"""Split Data."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import TRANSFORMATION
from rookery_vision.declare import choice, columns, input_port, integer, module, number, output_port, switch, text

__all__ = ["split_data"]

MODES = ("Split Rows", "Regular Expression", "Relative Expression")


@module("Split Data", category=TRANSFORMATION, help="Splits the rows of a table in two, by chance or by what they say.")
def split_data(
    dataset: Annotated[str, input_port("Dataset", "DataFrameDirectory", help="The table.")],
    results_dataset1: Annotated[
        str, output_port("Results dataset1", "DataFrameDirectory", help="The fraction, or the rows that fit.")
    ],
    results_dataset2: Annotated[str, output_port("Results dataset2", "DataFrameDirectory", help="The rest.")],
    mode: Annotated[str, choice("Splitting mode", help="How.", choices=MODES)] = "Split Rows",
    fraction: Annotated[
        float,
        number(
            "Fraction of rows in the first output dataset",
            low=0,
            high=1,
            help="How much goes to the first output.",
            when=("mode", "Split Rows"),
        ),
    ] = 0.5,
    is_random: Annotated[
        bool,
        switch("Randomized split", help="Else the first rows go to the first output.", when=("mode", "Split Rows")),
    ] = True,
    seed: Annotated[
        int,
        integer(
            "Random seed", low=0, high=2**32 - 1, help="The same gives the same split.", when=("mode", "Split Rows")
        ),
    ] = 0,
    stratify: Annotated[
        str,
        columns(
            "Stratification key column",
            help="A column whose values have the same share in both outputs; empty: none.",
            when=("mode", "Split Rows"),
        ),
    ] = "",
    expression: Annotated[
        str,
        text(
            "Expression",
            help='A column in quotes and a pattern, as \\"City" ^B.*; or a column, a sign and a value, as \\"Age" >= 30. Several are joined by & or by a bar.',
        ),
    ] = "",
) -> None:
    from rookery_tabular.frames import read_frame, write_frame
    from rookery_tabular.splitting import split

    first, second = split(read_frame(dataset), mode, fraction, is_random, seed, stratify, expression)
    write_frame(results_dataset1, first)
    write_frame(results_dataset2, second)
