"""Globs on paths: `*` and `?` within a part, `**` over parts, `[…]`. Pure."""

from __future__ import annotations

import functools
import re

__all__ = ["compile_glob", "matches_any"]


@functools.lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """What a whole path must look like. `**` stands for any number of parts, at the end for everything below."""
    parts = pattern.split("/")
    text = ""
    for i, part in enumerate(parts):
        is_last = i == len(parts) - 1
        if part == "**":
            text += ".*" if is_last else "(?:[^/]+/)*"
            continue
        text += _part(part) + ("" if is_last else "/")
    return re.compile(text + r"\Z", re.DOTALL)


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns takes this path; one without a wildcard takes the file, or all below the folder."""
    return any(
        compile_glob(p).match(path) or (not re.search(r"[*?\[]", p) and path.startswith(p.rstrip("/") + "/"))
        for p in patterns
    )


def _part(part: str) -> str:
    text, i = "", 0
    while i < len(part):
        c = part[i]
        i += 1
        if c == "*":
            text += "[^/]*"
        elif c == "?":
            text += "[^/]"
        elif c == "[":
            end = part.find("]", i + 1 if part[i : i + 1] not in ("!", "^") else i + 2)
            if end < 0:
                text += re.escape(c)
                continue
            inner = part[i:end].replace("\\", "\\\\")
            if inner[:1] in ("!", "^"):
                inner = "^" + inner[1:]
            text += f"[{inner}]"
            i = end + 1
        else:
            text += re.escape(c)
    return text
