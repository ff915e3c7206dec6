"""`name  value` lines under a heading, wrapped below their own beginning for narrow terminals."""

from __future__ import annotations

import re
import textwrap
from typing import Optional

from rookery.cli.terminal import clean, is_terminal, paint, say, width

__all__ = ["field", "heading"]

LABEL = 12
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def heading(text: str) -> None:
    say()
    say(paint(text, "bold"))


def field(label: str, value: Optional[object], indent: int = 2) -> None:
    """One line; nothing at all when there is no value."""
    text = "" if value is None else str(value)
    if not text:
        return
    if not _STYLE.search(text):
        text = clean(text)
    start = " " * indent + f"{label:<{LABEL}}"
    room = width() - len(start)
    # Off a terminal nothing is wrapped: a program reads it.
    is_long = is_terminal() and len(_STYLE.sub("", text)) > room
    lines = textwrap.wrap(text, max(room, 16), break_on_hyphens=False) if is_long else [text]
    say(paint(start, "dim") + ("\n" + " " * len(start)).join(lines))
