"""The base of configuration objects: a misspelt attribute is an error that lists the valid names; plain data
in and out."""

from __future__ import annotations

import enum
import re
import warnings
from typing import Any, ClassVar, TypeVar

from rookery.errors import UserError
from rookery.sdk.secret import Secret, unmask_variables
from rookery.spec.run import MASK

__all__ = ["Element"]

E = TypeVar("E", bound="Element")


class _ElementType(type):
    """Closes an element once its outermost `__init__` has returned, so that subclasses may add attributes in
    theirs."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        element = super().__call__(*args, **kwargs)
        object.__setattr__(element, "_closed", True)
        return element


class Element(metaclass=_ElementType):
    """A bag of named settings.

    Promises: after construction only existing attributes can be set; `to_dict` gives JSON data with camelCase
    keys and `from_dict` takes it back; what `from_dict` does not know is named in a warning, never dropped in
    silence.
    """

    # attribute -> class of the element (or of each in a list) it may hold; the same for the values of a dict
    _element_types: ClassVar[dict[str, type]] = {}
    _element_maps: ClassVar[dict[str, type]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get("_closed") and not name.startswith("_") and not hasattr(self, name):
            known = ", ".join(self.attribute_names())
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'. It has: {known}.")
        object.__setattr__(self, name, value)

    @classmethod
    def _property_names(cls) -> list[str]:
        return [
            n
            for c in cls.__mro__
            for n, v in vars(c).items()
            if isinstance(v, property) and v.fset and not n.startswith("_")
        ]

    def attribute_names(self) -> list[str]:
        """What can be set, in alphabetical order."""
        return sorted({n for n in vars(self) if not n.startswith("_")} | set(self._property_names()))

    def to_dict(self) -> dict[str, Any]:
        """JSON data, keys in camelCase."""
        return {_camel(name): _plain(value) for name, value in vars(self).items() if not name.startswith("_")}

    @classmethod
    def from_dict(cls: type[E], data: Any) -> E:
        """An element from what `to_dict` gave.

        Raises:
            UserError: data is not a mapping.
        """
        element = cls()
        element._update(data)
        return element

    def _update(self, data: Any) -> None:
        if not isinstance(data, dict):
            raise UserError(f"{type(self).__name__}: expected a mapping of settings, got {type(data).__name__}.")
        names = {_camel(n): n for n in vars(self) if not n.startswith("_")}
        for key, value in data.items():
            name = names.get(key) or (key if key in vars(self) else None)
            if name is not None:
                setattr(self, name, self._read(name, value))
            elif value not in (None, [], {}, ""):
                warnings.warn(
                    f"{type(self).__name__}: '{key}' is not known here and was left out.",
                    UserWarning,
                    stacklevel=4,
                )

    def _read(self, name: str, value: Any) -> Any:
        kind: Any = self._element_types.get(name)
        if value is None:
            return None
        if name == "environment_variables" and isinstance(value, dict):
            return unmask_variables(value)
        if name in self._element_maps and isinstance(value, dict):
            each: Any = self._element_maps[name]
            return {k: each.from_dict(v) for k, v in value.items()}
        if kind is not None and isinstance(value, list):
            return [kind.from_dict(v) for v in value]
        if kind is not None:
            return kind.from_dict(value)
        current = vars(self)[name]
        return type(current).from_dict(value) if isinstance(current, Element) else value

    def __repr__(self) -> str:
        inside = ", ".join(f"{n}={v!r}" for n, v in vars(self).items() if not n.startswith("_"))
        return f"{type(self).__name__}({inside})"


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found.group(1).upper(), name)


def _plain(value: Any) -> Any:
    if isinstance(value, Element):
        return value.to_dict()
    if isinstance(value, Secret):
        return MASK
    if hasattr(value, "as_dict"):  # CondaDependencies
        return value.as_dict()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
