"""The published schema of JobSet and of what it holds, for tests: the models that Kubeflow generates from Kubernetes' and
JobSet's OpenAPI documents, as a package of its own (Apache-2.0; only installed, never copied)."""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["PACKAGE", "schema_models"]

PACKAGE = "kubeflow-trainer-api==2.3.0"


@contextlib.contextmanager
def schema_models(folder: str) -> Iterator[Any]:
    """The module of models, from a fresh folder.

    Raises:
        RuntimeError: the package could not be installed.
    """
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        raise RuntimeError(f"{PACKAGE} could not be installed: {done.stderr[-800:]}")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("kubeflow_trainer_api.models")
    finally:
        sys.path.remove(folder)
