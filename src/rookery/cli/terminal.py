"""Where text goes and how it looks: terminal or not, colour or not, how wide. No Rich: it costs nothing."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from typing import Any, Optional, TextIO

__all__ = [
    "clean",
    "has_color",
    "is_terminal",
    "next_step",
    "note",
    "paint",
    "paint_status",
    "print_json",
    "say",
    "width",
]

_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2"}
_STATUS_STYLE = {
    "Completed": "green",
    "Failed": "red",
    "Canceled": "dim",
    "Running": "cyan",
    "NotResponding": "yellow",
}
# Control characters of a name (an escape sequence, a newline) must not reach the terminal.
_CONTROL = dict.fromkeys([*range(32), 127, *range(0x80, 0xA0)], "\ufffd") | {
    ord("\t"): " ",
    ord("\n"): " ",
}


def is_terminal(stream: Optional[TextIO] = None) -> bool:
    """Whether a person reads it as it comes."""
    stream = stream or sys.stdout
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def has_color(stream: Optional[TextIO] = None) -> bool:
    """Colour only on a terminal, and not where NO_COLOR or TERM=dumb asks for none."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def paint(text: str, *styles: str, stream: Optional[TextIO] = None) -> str:
    """The text in these styles where the stream shows them, else as it is."""
    if not text or not has_color(stream):
        return text
    return f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m"


def paint_status(status: str) -> str:
    return paint(status, _STATUS_STYLE.get(status, "yellow"))


def status_style(status: str) -> str:
    """The name of a status' colour, for tables."""
    return _STATUS_STYLE.get(status, "yellow")


def clean(text: object) -> str:
    """One line without control characters, so that a name from the record cannot drive the terminal."""
    return str(text).translate(_CONTROL)


def say(text: str = "") -> None:
    """A line of the answer."""
    print(text, flush=True)


def note(text: str) -> None:
    """A line about the answer: to stderr, so that what a script prints can be piped."""
    print(paint(text, "dim", stream=sys.stderr), file=sys.stderr, flush=True)


def next_step(command: str, why: str = "") -> None:
    """The last line on a terminal: what to type next."""
    if is_terminal():
        print(
            paint("Next: ", "dim") + paint(command, "bold") + (paint(f"   {why}", "dim") if why else ""),
            flush=True,
        )


def print_json(data: Any, *, line: bool = False) -> None:
    """Strict JSON. What JSON does not have becomes the strings "NaN", "Infinity" and "-Infinity"."""
    print(json.dumps(_strict(data), indent=None if line else 2, ensure_ascii=True, allow_nan=False), flush=True)


def _strict(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(k): _strict(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(v) for v in value]
    return value
