"""Dataclasses to plain JSON data and back, strictly: an unknown or missing field is an error that names it."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from rookery.errors import UserError

__all__ = ["from_plain", "to_plain"]

T = TypeVar("T")
Reader = Callable[[Any], Any]


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
    shape: Any = cls  # for mypy, a class need not be hashable
    readers, required = _shape(shape)
    values = {}
    for name, value in data.items():
        reader = readers.get(name)
        if reader is None:
            unknown = ", ".join(sorted(set(data) - set(readers)))
            raise UserError(f"{cls.__name__}: unknown field {unknown}. Known: {', '.join(sorted(readers))}.")
        values[name] = reader(value)
    missing = [name for name in required if name not in values]
    if missing:
        raise UserError(f"{cls.__name__}: missing field {', '.join(missing)}.")
    return cls(**values)


@functools.cache
def _shape(cls: Any) -> tuple[dict[str, Reader], tuple[str, ...]]:
    """How each field is read, and which must be there. Found out once: it takes much longer than reading."""
    hints = typing.get_type_hints(cls)
    fields = dataclasses.fields(cls)
    required = tuple(
        f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    )
    return {f.name: _reader(hints[f.name], f"{cls.__name__}.{f.name}") for f in fields}, required


def _reader(hint: Any, where: str) -> Reader:
    """What turns JSON data into a value of a type; `where` names it in complaints."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda value: value
    if origin is typing.Union:
        inner = _reader(next(a for a in args if a is not type(None)), where)
        return (lambda value: None if value is None else inner(value)) if type(None) in args else inner
    if dataclasses.is_dataclass(hint):
        return lambda value: from_plain(hint, value)  # type: ignore[arg-type]
    if origin is tuple:
        return _tuple_reader(_reader(args[0], where), where)
    if origin is dict:
        return _dict_reader(args[1], where)
    if isinstance(hint, type):
        return _plain_reader(hint, where)
    raise TypeError(f"{where}: cannot convert to {hint!r}")


def _tuple_reader(inner: Reader, where: str) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise UserError(f"{where}: expected a list, got {type(value).__name__}.")
        return tuple(map(inner, value))

    return read


def _dict_reader(hint: Any, where: str) -> Reader:
    inner = _reader(hint, where)

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise UserError(f"{where}: expected an object, got {type(value).__name__}.")
        try:
            return {str(k): inner(v) for k, v in value.items()}
        except UserError:
            for k, v in value.items():  # once more, to name the key
                _reader(hint, f"{where}[{k!r}]")(v)
            raise

    return read


def _plain_reader(hint: type, where: str) -> Reader:
    def read(value: Any) -> Any:
        if isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
            return value
        if hint is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        raise UserError(f"{where}: expected {hint.__name__}, got {type(value).__name__}.")

    return read
