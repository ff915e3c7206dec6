"""The parameters of a module: kind, bounds, default and help, and how a given value is checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

from rookery_vision.errors import (
    GreaterThanError,
    GreaterThanOrEqualToError,
    LessThanOrEqualToError,
    ModuleError,
    NotInRangeValueError,
    NullOrEmptyError,
    ParameterParsingError,
)

__all__ = ["REQUIRED", "Parameter", "choice", "code", "columns", "integer", "number", "switch", "text"]

REQUIRED = object()  # the default of a parameter that must be given
_WORDS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


@dataclass(frozen=True)
class Parameter:
    """One parameter. `kind` is what the documentation calls it: Integer, Float, Boolean, Mode or String.

    `above` is a lower bound that is itself not allowed. `when` names a parameter and the value with which this one counts.
    `error` replaces the usual error for a value that is not among the choices. `editor` says how a text is best edited: `columns`
    (names of the columns of an input, with commas between) or `code` (Python, several lines).
    """

    label: str
    kind: str
    help: str
    low: Optional[float] = None
    high: Optional[float] = None
    above: Optional[float] = None
    choices: tuple[str, ...] = ()
    when: Optional[tuple[str, Any]] = None
    error: Optional[type[ModuleError]] = None
    editor: str = ""
    name: str = ""
    default: Any = REQUIRED

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    def check(self, given: Any) -> Any:
        """The value as its type, from a value or from text.

        Raises:
            NullOrEmptyError, ParameterParsingError, GreaterThanError, GreaterThanOrEqualToError, LessThanOrEqualToError,
            NotInRangeValueError: it is missing, not of the kind, or out of bounds.
        """
        if given is REQUIRED or given is None or (isinstance(given, str) and not given.strip()):
            if given is not REQUIRED and not self.is_required and self.default in (None, ""):
                return self.default
            raise NullOrEmptyError(
                f"Parameter '{self.label}' is missing. {self._allowed()} Give it with {self.option}."
            )
        value = self._as_kind(given)
        if self.kind in ("Integer", "Float"):
            self._check_bounds(value)
        return value

    def as_text(self, value: Any) -> str:
        """As it stands on a command line; `check` gives the value back."""
        return repr(value) if isinstance(value, float) else str(value)

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "help": self.help,
            "required": self.is_required,
            "default": None if self.is_required else self.default,
            "low": self.low,
            "high": self.high,
            "above": self.above,
            "choices": list(self.choices),
            "when": list(self.when) if self.when else None,
            "editor": self.editor,
        }

    def _as_kind(self, given: Any) -> Any:
        if self.kind == "Boolean":
            if isinstance(given, bool):
                return given
            if str(given).strip().lower() in _WORDS:
                return _WORDS[str(given).strip().lower()]
        elif self.kind == "Integer":
            if isinstance(given, bool):
                raise self._unparsed(given)
            try:
                return int(given) if isinstance(given, str) or int(given) == given else self._refuse(given)
            except (TypeError, ValueError, OverflowError):
                raise self._unparsed(given) from None
        elif self.kind == "Float":
            try:
                value = float(given) if not isinstance(given, bool) else math.nan
            except (TypeError, ValueError):
                value = math.nan
            if math.isfinite(value):
                return value
        elif self.kind == "Mode":
            if given in self.choices:
                return given
            if self.error:
                raise self.error(f"Parameter '{self.label}' is {given!r}. {self._allowed()}")
        else:
            return str(given)
        raise self._unparsed(given)

    def _refuse(self, given: Any) -> Any:
        raise self._unparsed(given)

    def _unparsed(self, given: Any) -> ModuleError:
        return ParameterParsingError(f"Parameter '{self.label}' is {given!r}. {self._allowed()}")

    def _check_bounds(self, value: float) -> None:
        message = f"Parameter '{self.label}' is {value}. {self._allowed()}"
        too_low = self.low is not None and value < self.low
        too_high = self.high is not None and value > self.high
        if (too_low or too_high) and self.low is not None and self.high is not None:
            raise NotInRangeValueError(message)
        if self.above is not None and value <= self.above:
            raise GreaterThanError(message)
        if too_low:
            raise GreaterThanOrEqualToError(message)
        if too_high:
            raise LessThanOrEqualToError(message)

    def _allowed(self) -> str:
        if self.kind == "Boolean":
            return "Allowed: True, False."
        if self.kind == "Mode":
            return f"Allowed: {', '.join(self.choices)}."
        if self.kind == "String":
            return "Allowed: a text."
        bounds = []
        if self.low is not None and self.high is not None:
            bounds = [f"from {self.low} to {self.high}"]
        else:
            bounds += [f"above {self.above}"] if self.above is not None else []
            bounds += [f"of at least {self.low}"] if self.low is not None else []
            bounds += [f"of at most {self.high}"] if self.high is not None else []
        noun = "a whole number" if self.kind == "Integer" else "a number"
        return f"Allowed: {' '.join([noun, *bounds])}."


def integer(label: str, help: str, **more: Any) -> Parameter:
    return Parameter(label, "Integer", help, **more)


def number(label: str, help: str, **more: Any) -> Parameter:
    return Parameter(label, "Float", help, **more)


def switch(label: str, help: str, **more: Any) -> Parameter:
    return Parameter(label, "Boolean", help, **more)


def choice(label: str, help: str, choices: tuple[str, ...], **more: Any) -> Parameter:
    return Parameter(label, "Mode", help, choices=choices, **more)


def text(label: str, help: str, **more: Any) -> Parameter:
    return Parameter(label, "String", help, **more)


def columns(label: str, help: str, **more: Any) -> Parameter:
    """Names of columns of a table that comes in."""
    return Parameter(label, "String", help, editor="columns", **more)


def code(label: str, help: str, **more: Any) -> Parameter:
    """Python, several lines."""
    return Parameter(label, "String", help, editor="code", **more)
