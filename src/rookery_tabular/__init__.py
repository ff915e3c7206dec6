"""The designer's everyday modules for tables as Python functions: `from rookery_tabular import split_data`.

Importing this costs nothing; a module's file is read when its name is first used, pandas when it is first called.
"""

from __future__ import annotations

from typing import Any

from rookery_tabular.catalog import MODULES, load

__all__ = [*MODULES]


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return load(name)
    raise AttributeError(f"rookery_tabular has no attribute {name!r}. It has: {', '.join(MODULES)}.")


def __dir__() -> list[str]:
    return sorted(__all__)
