"""The software of a run: what was asked for becomes an interpreter to run with.

In this version two kinds exist: the interpreter that submits, and user-managed ones. Building from a
specification is the
next step; it goes behind the same three functions.
"""

from __future__ import annotations

from rookery.environments.base import BuiltEnvironment, check, prepare, prepared

__all__ = ["BuiltEnvironment", "check", "prepare", "prepared"]
