"""The ports of a module, and the kinds of folder that go through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["DATA_TYPES", "Port", "input_port", "output_port"]

DATA_TYPES = {
    "AnyDirectory": "A folder, or a file data set.",
    "ZipFile": "An archive: .zip, .tar, .gz or .bz2.",
    "ImageDirectory": "Pictures, with their categories where they have any.",
    "TransformationDirectory": "What is to be done to pictures, in order.",
    "UntrainedModelDirectory": "A network before it is trained.",
    "ModelDirectory": "A trained model, with its labels and what it takes.",
    "DataFrameDirectory": "A table.",
}


@dataclass(frozen=True)
class Port:
    """One input or output. `name` is the Python argument, `label` what the canvas shows."""

    label: str
    types: tuple[str, ...]
    is_output: bool
    help: str = ""
    is_optional: bool = False
    name: str = ""

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "types": list(self.types),
            "optional": self.is_optional,
            "help": self.help,
        }


def input_port(label: str, *types: str, help: str = "", is_optional: bool = False) -> Port:
    return Port(label, _known(types), False, help, is_optional)


def output_port(label: str, *types: str, help: str = "") -> Port:
    return Port(label, _known(types), True, help)


def _known(types: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [t for t in types if t not in DATA_TYPES]
    if unknown or not types:
        raise ValueError(f"A port of type {', '.join(unknown) or 'none'}. Known: {', '.join(DATA_TYPES)}.")
    return types
