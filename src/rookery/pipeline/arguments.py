"""The arguments of a module's script as v1 gives them: text, and ports and parameters by name. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rookery.errors import UserError

__all__ = ["check_arguments", "written_arguments"]


def written_arguments(
    arguments: Any, inputs: dict[str, str], outputs: dict[str, str], parameters: dict[str, Any]
) -> list[str]:
    """The words of arguments in v1's way: text, or {"input"|"output"|"parameter": name}. An optional input that nothing comes in
    at is an empty word."""
    words = []
    for each in arguments:
        if not isinstance(each, dict):
            words.append("" if each is None else str(each))
            continue
        kind, name = next(iter(each.items()))
        value = {"input": inputs, "output": outputs, "parameter": parameters}[kind].get(name)
        words.append("" if value is None else str(value))
    return words


def check_arguments(
    what: str, given: Any, inputs: Iterable[str], outputs: Iterable[str], parameters: Iterable[str]
) -> tuple[Any, ...]:
    """Arguments in v1's way, as they are given.

    Raises:
        UserError: one is something else, or names what is not there.
    """
    known = {"input": list(inputs), "output": list(outputs), "parameter": list(parameters)}
    if not isinstance(given or [], list):
        raise UserError(f"arguments of {what} is {type(given).__name__}. Give a list.")
    for each in given or ():
        if isinstance(each, dict) and len(each) == 1 and next(iter(each)) in known:
            kind, name = next(iter(each.items()))
            if name not in known[kind]:
                raise UserError(
                    f"arguments of {what} name the {kind} '{name!s:.80}'. It has: {', '.join(known[kind]) or 'none'}."
                )
        elif isinstance(each, (dict, list)):
            raise UserError(f"arguments of {what} has {each!r:.60}. Give text, or {{input|output|parameter: name}}.")
    return tuple(given or ())
