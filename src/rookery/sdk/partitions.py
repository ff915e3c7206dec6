"""`partition_format`: columns taken from the paths of files, as '/{Date:yyyy/MM/dd}/{Kind}.csv' says. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Optional

from rookery.errors import UserError

__all__ = ["partition_expression", "partition_names", "partition_values"]

_PART = re.compile(r"\{([A-Za-z_]\w*)(?::([^}]*))?\}")
_TIME = {"yyyy": ("%Y", r"\d{4}"), "MM": ("%m", r"\d{2}"), "dd": ("%d", r"\d{2}"), "HH": ("%H", r"\d{2}"), "mm": ("%M", r"\d{2}"), "ss": ("%S", r"\d{2}")}  # fmt: skip
_TOKENS = re.compile("|".join(_TIME))


def partition_names(pattern: str) -> list[str]:
    return list(dict.fromkeys(name for name, _ in _PART.findall(pattern)))


def partition_values(pattern: str, path: str) -> Optional[dict[str, Any]]:
    """The columns of one file, by its path with a '/' in front; None where the path does not look like the pattern."""
    if not pattern:
        return {}
    expression, formats = partition_expression(pattern)
    found = re.search(expression, path)
    if found is None:
        return None
    values: dict[str, Any] = {}
    for name, text in found.groupdict().items():
        try:
            values[name] = datetime.strptime(text, formats[name]) if name in formats else text
        except ValueError:
            return None
    return values


def partition_expression(pattern: str) -> tuple[str, dict[str, str]]:
    """(regular expression with a group for each column, formats of those that are times)."""
    text, at, formats = "", 0, {}
    seen: set[str] = set()
    for part in _PART.finditer(pattern):
        text += re.escape(pattern[at : part.start()]).replace(r"\*", "[^/]*")
        at = part.end()
        name, moment = part.group(1), part.group(2)
        if name in seen:
            raise UserError(f"partition_format names the column '{name}' twice.")
        seen.add(name)
        if moment:
            inner = _TOKENS.sub(lambda m: "\0" + m.group() + "\0", moment)
            formats[name] = "".join(_TIME[p][0] if p in _TIME else p for p in inner.split("\0"))
            text += (
                f"(?P<{name}>" + "".join(_TIME[p][1] if p in _TIME else re.escape(p) for p in inner.split("\0")) + ")"
            )
        else:
            text += f"(?P<{name}>[^/]+?)"
    text += re.escape(pattern[at:]).replace(r"\*", "[^/]*")
    return text + r"\Z", formats
