"""All modules: the image modules, and those of the packages beside this one. Reading it imports nothing heavy."""

from __future__ import annotations

import difflib
import importlib

from rookery_vision.declare import Module

__all__ = ["BESIDE", "MODULES", "find", "modules", "names"]

# In the order of a pipeline; the file in modules/ has the function's name.
MODULES = (
    "sample_pictures",
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


# Packages with modules of their own: each has a `catalog` with `MODULES` (names) and `load(name)`.
BESIDE = ("rookery_tabular",)


def names() -> dict[str, str]:
    """Every module's name, and the package that has it. A name is in one package only."""
    found = dict.fromkeys(MODULES, "rookery_vision")
    for package in BESIDE:
        try:
            catalog = importlib.import_module(package + ".catalog")
        except ModuleNotFoundError as error:
            if error.name not in (package, package + ".catalog"):
                raise
            continue  # an environment may have one package without the other
        found.update(dict.fromkeys(catalog.MODULES, package))
    return found


def modules() -> list[Module]:
    """Every card, in the order of a pipeline."""
    return [_load(name, package) for name, package in names().items()]


def find(name: str) -> Module:
    """A module by its name or its title, however capitals, spaces and hyphens are set.

    Raises:
        LookupError: there is none; the message names near ones.
    """
    wanted = "_".join(name.replace("-", " ").replace("_", " ").lower().split())
    known = names()
    if wanted in known:
        return _load(wanted, known[wanted])
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise LookupError(f"There is no module {name!r}.{hint} Known: {', '.join(known)}.")


def _load(name: str, package: str) -> Module:
    if package == "rookery_vision":
        found = getattr(importlib.import_module("rookery_vision.modules." + name), name)
    else:
        found = importlib.import_module(package + ".catalog").load(name)
    assert isinstance(found, Module)
    return found
