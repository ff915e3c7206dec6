"""All modules, by category. Reading it imports nothing heavy."""

from __future__ import annotations

import difflib
import importlib

from rookery_vision.declare import Module

__all__ = ["MODULES", "find", "modules"]

# In the order of a pipeline; the file in modules/ has the function's name.
MODULES = (
    "convert_to_image_directory",
    "split_image_directory",
    "init_image_transformation",
    "apply_image_transformation",
    "densenet",
    "resnet",
    "train_pytorch_model",
    "score_image_model",
    "evaluate_model",
    "export_to_onnx",
)


def modules() -> list[Module]:
    """Every card."""
    return [_load(name) for name in MODULES]


def find(name: str) -> Module:
    """A module by its name or its title, however capitals, spaces and hyphens are set.

    Raises:
        LookupError: there is none; the message names near ones.
    """
    wanted = "_".join(name.replace("-", " ").replace("_", " ").lower().split())
    if wanted in MODULES:
        return _load(wanted)
    near = difflib.get_close_matches(wanted, MODULES, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise LookupError(f"There is no module {name!r}.{hint} Known: {', '.join(MODULES)}.")


def _load(name: str) -> Module:
    found = getattr(importlib.import_module("rookery_vision.modules." + name), name)
    assert isinstance(found, Module)
    return found
