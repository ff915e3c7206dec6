"""The choice of an interpreter where the channels decide: which one it is shows only when they have been asked."""

from __future__ import annotations

from rookery.environments.python.interpreters import Choice, Interpreter

__all__ = ["CONDA_CHOICE", "uses_conda"]

CONDA_CHOICE = Choice(Interpreter("conda", ""))


def uses_conda(choice: Choice) -> bool:
    return choice.interpreter.path == CONDA_CHOICE.interpreter.path
