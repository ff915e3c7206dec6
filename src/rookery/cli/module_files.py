"""A module of one's own, as its author writes it: a folder with a card, or a Python function that declares itself."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import UserError

__all__ = ["ModuleFiles", "read_module"]

CARDS = ("module.yaml", "module.yml", "card.yaml")


@dataclass(frozen=True)
class ModuleFiles:
    """`function` is FILE.py:NAME for one that declares itself; else the card names the script."""

    folder: str
    card: dict[str, Any]
    function: Optional[str] = None


def read_module(path: str) -> ModuleFiles:
    """What `rookery module add PATH` means.

    Raises:
        UserError: there is no card, or no function that is a module.
    """
    file, _, wanted = path.partition(".py:")
    if wanted:
        return _declared(file + ".py", wanted)
    if path.endswith(".py"):
        return _declared(path, "")
    if not os.path.isdir(path):
        raise UserError(f"{path} is no folder. Give a folder with {CARDS[0]} and a script, or FILE.py.")
    from rookery.spec.safe_yaml import load_yaml, read_text

    for name in CARDS:
        card = os.path.join(path, name)
        if os.path.isfile(card):
            found = load_yaml(read_text(card), card)
            if not isinstance(found, dict):
                raise UserError(
                    f"{card} is no card: it says name, inputs, outputs, parameters and script. docs/pipelines.md has one."
                )
            return ModuleFiles(os.path.abspath(path), found)
    raise UserError(
        f"{path} has no {CARDS[0]}. It says name, inputs, outputs, parameters and script; docs/pipelines.md has one."
    )


def _declared(file: str, wanted: str) -> ModuleFiles:
    """The function is found by running the file, as the module itself will be."""
    from rookery_vision.declare import Module

    if not os.path.isfile(file):
        raise UserError(f"There is no file {file}.")
    folder = os.path.dirname(os.path.abspath(file))
    spec = importlib.util.spec_from_file_location("rookery_added_module", file)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(loaded)
    except Exception as error:
        raise UserError(f"{file} cannot be read: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    own = {
        name: each
        for name, each in vars(loaded).items()
        if isinstance(each, Module) and each.function.__module__ == loaded.__name__
    }
    if wanted and wanted not in own:
        raise UserError(f"{file} declares no module '{wanted}'. It declares: {', '.join(own) or 'none'}.")
    if not own or (len(own) > 1 and not wanted):
        raise UserError(
            f"{file} declares {', '.join(own)}: say which with {file}:NAME." if own
            else f"{file} declares no module. Put @module(…) of rookery_vision.declare before a function; docs/pipelines.md shows it."
        )  # fmt: skip
    name = wanted or next(iter(own))
    return ModuleFiles(folder, own[name].describe(), f"{os.path.basename(file)}:{name}")
