"""Dataclasses to plain JSON data and back, strictly: an unknown or missing field is an error that names it."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, TypeVar

from rookery.errors import UserError

__all__ = ["from_plain", "to_plain"]

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """JSON data for a dataclass (nested ones too)."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def from_plain(cls: type[T], data: Any) -> T:
    """A dataclass from JSON data.

    Raises:
        UserError: data is not an object, or has unknown or missing fields, or a field of the wrong type.
    """
    if not isinstance(data, dict):
        raise UserError(f"{cls.__name__}: expected a JSON object, got {type(data).__name__}.")
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(set(data) - set(fields))
    if unknown:
        raise UserError(f"{cls.__name__}: unknown field {', '.join(unknown)}. Known: {', '.join(sorted(fields))}.")
    hints = typing.get_type_hints(cls)
    values = {name: _convert(hints[name], data[name], f"{cls.__name__}.{name}") for name in data}
    missing = [
        n
        for n, f in fields.items()
        if n not in values and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise UserError(f"{cls.__name__}: missing field {', '.join(missing)}.")
    return cls(**values)


def _convert(hint: Any, value: Any, where: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin is typing.Union:
        if value is None and type(None) in args:
            return None
        return _convert(next(a for a in args if a is not type(None)), value, where)
    if dataclasses.is_dataclass(hint):
        return from_plain(hint, value)  # type: ignore[arg-type]
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise UserError(f"{where}: expected a list, got {type(value).__name__}.")
        return tuple(_convert(args[0], v, where) for v in value)
    if origin is dict:
        if not isinstance(value, dict):
            raise UserError(f"{where}: expected an object, got {type(value).__name__}.")
        return {str(k): _convert(args[1], v, f"{where}[{k!r}]") for k, v in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type):
        if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
            raise UserError(f"{where}: expected {hint.__name__}, got {type(value).__name__}.")
        return value
    raise TypeError(f"{where}: cannot convert to {hint!r}")
