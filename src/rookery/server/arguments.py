"""A script's arguments as names and values, so that runs can be compared by what they were given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional

__all__ = ["named_arguments"]

# A dash and a letter: `-3` and `-.5` are values.
_OPTION = re.compile(r"--?(?P<name>[A-Za-z_][^\s=]*)(=(?P<value>.*))?", re.DOTALL)


def named_arguments(arguments: Sequence[Any]) -> dict[str, str]:
    """`["a.csv", "--lr", 0.1, "--fast"]` → `{"argument 1": "a.csv", "lr": "0.1", "fast": "true"}`.

    Switches cannot be told from options without the script's parser, so what follows one is taken as its value. An option with several
    values, or given several times, has them joined.
    """
    told: dict[str, list[str]] = {}
    option: Optional[list[str]] = None
    for given in map(str, arguments):
        match = _OPTION.fullmatch(given)
        if match is not None:
            option = told.setdefault(match["name"], [])
            if match["value"] is not None:
                option.append(match["value"])
        elif option is not None:
            option.append(given)
        else:
            told[f"argument {len(told) + 1}"] = [given]
    return {name: " ".join(values) if values else "true" for name, values in told.items()}
