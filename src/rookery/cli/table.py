"""Tables. On a terminal through Rich and cut to its width; elsewhere plain text with everything in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rookery.cli.terminal import clean, has_color, is_terminal, say, status_style, width

__all__ = ["Column", "cells", "make_table", "print_table"]

GAP = 2
NARROWEST = 10  # a shrinkable column is dropped rather than cut below this


@dataclass(frozen=True)
class Column:
    """One column. `rank` 0 is always shown; on a narrow terminal the highest rank goes first."""

    title: str
    rank: int = 0
    right: bool = False
    shrinks: bool = False  # may be cut with an ellipsis
    is_status: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[object]], *, indent: int = 0) -> list[str]:
    """Prints the rows under their titles and returns the titles of the columns that did not fit."""
    texts = [[clean(value) for value in row] for row in rows]
    if not is_terminal():
        _print_plain(columns, texts, indent)
        return []
    table, left_out = make_table(columns, texts, width() - indent)
    _print_rich(table, indent)
    return left_out


def make_table(columns: Sequence[Column], texts: Sequence[Sequence[str]], room: int) -> tuple[Any, list[str]]:
    """A table of Rich that is no wider than `room`, and the titles of the columns that did not fit. Empty columns are left out."""
    empty = [i for i, c in enumerate(columns) if c.rank and not any(row[i] for row in texts)]
    natural = _natural(columns, texts)
    shown = _fitting(columns, natural, room, [i for i in range(len(columns)) if i not in empty])
    widths = _widths([columns[i] for i in shown], [natural[i] for i in shown], room)
    table = _rich_table([columns[i] for i in shown], [[row[i] for i in shown] for row in texts], widths)
    return table, [c.title for i, c in enumerate(columns) if i not in shown and i not in empty]


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _natural(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> list[int]:
    return [max([cells(c.title), *(cells(row[i]) for row in texts)]) for i, c in enumerate(columns)]


def _fitting(columns: Sequence[Column], natural: list[int], room: int, shown: list[int]) -> list[int]:
    """Which columns to show: the highest rank goes while even the cut ones do not fit."""
    shown = list(shown)
    while True:
        least = sum(min(natural[i], NARROWEST) if columns[i].shrinks else natural[i] for i in shown)
        droppable = [i for i in shown if columns[i].rank]
        if least + GAP * (len(shown) - 1) <= room or not droppable:
            return shown
        shown.remove(max(droppable, key=lambda i: columns[i].rank))


def _widths(columns: Sequence[Column], natural: list[int], room: int) -> list[int]:
    """How wide each column is: the widest that may be cut gives way first; one wider than the room folds."""
    widths = [min(w, room) for w in natural]
    while sum(widths) + GAP * (len(widths) - 1) > room:
        cuttable = [i for i, c in enumerate(columns) if c.shrinks and widths[i] > NARROWEST]
        if not cuttable:
            break
        widths[max(cuttable, key=lambda i: widths[i])] -= 1
    return widths


def _print_plain(columns: Sequence[Column], texts: Sequence[Sequence[str]], indent: int) -> None:
    widths = _natural(columns, texts)
    for row in [[c.title for c in columns], *texts]:
        parts = [_pad(text, w, c.right) for text, w, c in zip(row, widths, columns)]
        say((" " * indent + (" " * GAP).join(parts)).rstrip())


def _pad(text: str, room: int, right: bool) -> str:
    blank = " " * (room - cells(text))
    return blank + text if right else text + blank


def _rich_table(columns: Sequence[Column], texts: Sequence[Sequence[str]], widths: Sequence[int]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for column, room in zip(columns, widths):
        side: Literal["left", "right"] = "right" if column.right else "left"
        how: Literal["ellipsis", "fold"] = "ellipsis" if column.shrinks else "fold"
        table.add_column(Text(column.title), justify=side, no_wrap=column.shrinks, overflow=how, width=room)
    for row in texts:
        table.add_row(*(Text(t, style=status_style(t) if c.is_status else "") for t, c in zip(row, columns)))
    return table


def _print_rich(table: Any, indent: int) -> None:
    from rich.console import Console
    from rich.padding import Padding

    # color_system None: no escapes at all, where Rich alone would still print bold under NO_COLOR.
    console = Console(highlight=False, markup=False, width=width(), color_system="auto" if has_color() else None)
    console.print(Padding(table, (0, 0, 0, indent), expand=False))
