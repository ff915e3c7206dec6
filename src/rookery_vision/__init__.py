"""The designer's image modules as Python functions: `from rookery_vision import split_image_directory`.

Importing this costs nothing; a module's file is read when its name is first used, torch when it is first called.
"""

from __future__ import annotations

from typing import Any

from rookery_vision.catalog import MODULES, find

__all__ = [*MODULES]


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return find(name)
    raise AttributeError(f"rookery_vision has no attribute {name!r}. It has: {', '.join(MODULES)}.")


def __dir__() -> list[str]:
    return sorted(__all__)
