"""git's wildmatch as regular expressions."""

from __future__ import annotations

import re
from typing import Optional

__all__ = ["literal_length", "translate"]

_SPECIAL = frozenset("*?[\\")
_NEVER = "(?!)"
_CLASSES = {
    "alnum": r"0-9A-Za-z",
    "alpha": r"A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": r"0-9",
    "graph": r"\x21-\x7e",
    "lower": r"a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r" \t\n\r\f\v",
    "upper": r"A-Z",
    "xdigit": r"0-9A-Fa-f",
}


def literal_length(pattern: str) -> int:
    """How many characters come before the first one with a special meaning."""
    for i, char in enumerate(pattern):
        if char in _SPECIAL:
            return i
    return len(pattern)


def translate(pattern: str, path_mode: bool) -> str:
    """The regular expression (for fullmatch, with DOTALL) of a wildmatch pattern.

    path_mode: `*`, `?` and `[…]` stop at '/', and `**` between slashes does not.
    """
    one, many = ("[^/]", "[^/]*") if path_mode else (".", ".*")
    out: list[str] = []
    i, end = 0, len(pattern)
    while i < end:
        char = pattern[i]
        if char == "*":
            after = i
            while after < end and pattern[after] == "*":
                after += 1
            deep = path_mode and after - i >= 2 and (i == 0 or pattern[i - 1] == "/")
            if deep and pattern[after : after + 1] == "/":
                out.append("(?:.*/)?")  # also no folder at all
                after += 1
            elif deep and (after == end or pattern.startswith("\\/", after)):
                out.append(".*")
            else:
                out.append(many)
            i = after
        elif char == "?":
            out.append(one)
            i += 1
        elif char == "[":
            expression, i = _bracket(pattern, i + 1)
            out.append(expression)
        else:
            if char == "\\":
                i += 1
            out.append(re.escape(pattern[i]) if i < end else _NEVER)
            i += 1
    return "".join(out)


def _bracket(pattern: str, i: int) -> tuple[str, int]:
    """The expression of a bracket whose content begins at `i`, and where it ends. One that is not closed
    never matches."""
    negated = pattern[i : i + 1] in ("!", "^")
    i += negated
    parts: list[str] = []
    previous: Optional[str] = None  # what a range may begin with
    first = True
    while first or pattern[i : i + 1] != "]":
        first = False
        char = pattern[i : i + 1]
        if not char:
            return _NEVER, len(pattern)
        if char == "\\":
            i += 1
            char = pattern[i : i + 1]
            if not char:
                return _NEVER, len(pattern)
            parts.append(_code(char))
            previous = char
        elif char == "-" and previous is not None and pattern[i + 1 : i + 2] not in ("", "]"):
            i += 1
            if pattern[i] == "\\":
                i += 1
            if i >= len(pattern):
                return _NEVER, len(pattern)
            if previous <= pattern[i]:
                parts.append(f"{_code(previous)}-{_code(pattern[i])}")
            previous = None
        elif char == "[" and pattern[i + 1 : i + 2] == ":":
            close = pattern.find("]", i + 2)
            if close < 0:
                return _NEVER, len(pattern)
            if close > i + 2 and pattern[close - 1] == ":":
                name = pattern[i + 2 : close - 1]
                if name not in _CLASSES:
                    return _NEVER, len(pattern)
                parts.append(_CLASSES[name])
                previous, i = None, close
            else:  # no ':]' follows: an ordinary '['
                parts.append(_code("["))
                previous = "["
        else:
            parts.append(_code(char))
            previous = char
        i += 1
    inside = "".join(parts)
    if not inside:
        return ("[^/]" if negated else _NEVER), i + 1
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), i + 1


def _code(char: str) -> str:
    return f"\\x{ord(char):02x}"
