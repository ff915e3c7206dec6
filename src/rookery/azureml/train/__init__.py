"""azureml.train: the deprecated estimators and `hyperdrive` are there; `automl` is a placeholder."""

from __future__ import annotations

import importlib
from typing import Any

from rookery.azureml.surface import SURFACE

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if f"azureml.train.{name}" in SURFACE:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'azureml.train' has no attribute '{name}'")
