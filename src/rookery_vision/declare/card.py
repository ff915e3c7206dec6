"""A module: a function whose signature declares its ports and parameters, and the card that the designer shows of it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import typing
from collections.abc import Mapping
from typing import Any, Callable, Union

from rookery_vision.declare.parameters import REQUIRED, Parameter
from rookery_vision.declare.ports import Port
from rookery_vision.errors import FailedToWriteOutputsError, NullOrEmptyError

__all__ = ["Module", "module"]

# What the extras `vision` and `tabular` install, by the names under which it is imported.
NEEDED = ("torch", "torchvision", "numpy", "PIL", "yaml", "pyarrow", "matplotlib", "onnx", "onnxscript", "onnxruntime")
NEEDED_FOR_TABLES = ("pandas", "sklearn", "joblib", "numpy", "yaml", "pyarrow", "matplotlib")


class Module:
    """A declared module. Calling it checks what is given, makes the output folders, and does the work.

    Promises: reading anything but calling it imports nothing heavy; `command` and the command line are each other's
    inverse; every call goes through the same checks, in the order parameters, inputs, outputs.
    """

    def __init__(
        self, function: Callable[..., None], title: str, category: str, help: str, distributed: bool = False
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name: str = function.__name__
        self.title, self.category, self.help, self.distributed = title, category, help, distributed
        ports, self.parameters = _declared(function)
        self.inputs = tuple(p for p in ports if not p.is_output)
        self.outputs = tuple(p for p in ports if p.is_output)

    def __repr__(self) -> str:
        return f"<module {self.title}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Union[str, tuple[str, ...]]:
        """Run it. Ports by place (inputs, then outputs) or by name, parameters by name.

        Returns:
            The path of the output, or a tuple of them.

        Raises:
            ModuleError: one of the documented errors.
        """
        given = self._bind(args, kwargs)
        values = {p.name: p.check(given.get(p.name, p.default)) for p in self.parameters}
        paths = {port.name: self._check_input(port, given.get(port.name)) for port in self.inputs}
        paths.update({port.name: self._make_output(port, given.get(port.name)) for port in self.outputs})
        try:
            self.function(**paths, **values)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] not in (*NEEDED, *NEEDED_FOR_TABLES):
                raise
            extra = self.function.__module__.partition(".")[0].rpartition("_")[2]
            hint = f"{self.title} needs {error.name}, which is not installed here. Run: pip install 'rookery[{extra}]'"
            raise ModuleNotFoundError(hint, name=error.name) from error
        made = tuple(paths[port.name] for port in self.outputs)
        return made[0] if len(made) == 1 else made

    def command(
        self, inputs: Mapping[str, str], outputs: Mapping[str, str], parameters: Mapping[str, Any]
    ) -> list[str]:
        """The arguments after `python -m rookery_vision` that run it so; values are checked here already."""
        given = self._bind((), {**inputs, **outputs, **parameters})
        words = [self.name]
        for port in (*self.inputs, *self.outputs):
            if given.get(port.name):
                words.append(f"{port.option}={given[port.name]}")
        for parameter in self.parameters:
            if parameter.name in given:
                words.append(f"{parameter.option}={parameter.as_text(parameter.check(given[parameter.name]))}")
        return words

    def describe(self) -> dict[str, Any]:
        """The card as plain JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "category": self.category,
            "help": self.help,
            "distributed": self.distributed,
            "inputs": [p.describe() for p in self.inputs],
            "outputs": [p.describe() for p in self.outputs],
            "parameters": [p.describe() for p in self.parameters],
        }

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        ports = [port.name for port in (*self.inputs, *self.outputs)]
        names = [*ports, *(parameter.name for parameter in self.parameters)]
        if len(args) > len(ports):
            raise TypeError(f"{self.name}() takes {len(ports)} folders by place, not {len(args)}: {', '.join(ports)}.")
        given = dict(zip(ports, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{self.name}() has no argument {name!r}. It has: {', '.join(names)}.")
            if name in given:
                raise TypeError(f"{self.name}() was given {name!r} twice, by place and by name.")
            given[name] = value
        return given

    def _check_input(self, port: Port, given: Any) -> Any:
        if given is None or not str(given):
            if port.is_optional:
                return None
            raise NullOrEmptyError(f"Input '{port.label}' of {self.title} is missing. Connect {_types(port)}.")
        path = os.fspath(given)
        if not os.path.exists(path):
            raise NullOrEmptyError(f"Input '{port.label}' of {self.title}: {path} does not exist. Give {_types(port)}.")
        return path

    def _make_output(self, port: Port, given: Any) -> str:
        if given is None or not str(given):
            raise NullOrEmptyError(f"Output '{port.label}' of {self.title} is missing. Give a folder to write to.")
        path = os.fspath(given)
        try:
            os.makedirs(path, exist_ok=True)
            filled = bool(os.listdir(path))
        except OSError as error:
            raise FailedToWriteOutputsError(f"Output '{port.label}': {path} cannot be written: {error}.") from error
        if filled and not self.distributed:  # ranks come one after the other
            raise FailedToWriteOutputsError(
                f"Output '{port.label}': {path} has something in it. Give a folder that is empty or not there yet."
            )
        return path


def module(title: str, category: str, help: str, distributed: bool = False) -> Callable[[Callable[..., None]], Module]:
    """Declare a function as a module."""
    return lambda function: Module(function, title, category, help, distributed)


def _declared(function: Callable[..., None]) -> tuple[list[Port], tuple[Parameter, ...]]:
    hints = typing.get_type_hints(function, include_extras=True)
    ports: list[Port] = []
    parameters: list[Parameter] = []
    for name, argument in inspect.signature(function).parameters.items():
        declared = [m for m in getattr(hints[name], "__metadata__", ()) if isinstance(m, (Port, Parameter))]
        if len(declared) != 1:
            raise TypeError(f"{function.__name__}: argument {name!r} needs one Port or Parameter in its annotation.")
        one = declared[0]
        if isinstance(one, Port):
            if parameters:
                raise TypeError(f"{function.__name__}: port {name!r} comes after a parameter.")
            ports.append(dataclasses.replace(one, name=name))
            continue
        default = REQUIRED if argument.default is inspect.Parameter.empty else argument.default
        parameters.append(dataclasses.replace(one, name=name, default=default))
        if default is not REQUIRED and default not in (None, ""):
            parameters[-1].check(default)
    return ports, tuple(parameters)


def _types(port: Port) -> str:
    return " or ".join(("an " if t[0] in "AEIOU" else "a ") + t for t in port.types)
