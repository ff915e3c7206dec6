"""The software of a run: what was asked for becomes an interpreter to run with.

Three kinds: the interpreter that submits, user-managed ones, and those built from a specification (specification → lock →
hash → built once per machine).
"""

from __future__ import annotations

from rookery.environments.base import BuiltEnvironment, check, prepare, prepared, resolve_for_node

__all__ = ["BuiltEnvironment", "check", "prepare", "prepared", "resolve_for_node"]
