"""Compiled bytecode, shared like the files it was compiled from.

The first import of torch writes 24 MB of .pyc and takes twice as long. Environments share source files by
hard links, so the bytecode
of a file that another environment has imported already holds here too: Python checks the source's time and
size (the same inode) and
corrects the path in the code it loads. A .pyc is replaced, never written over, so a shared one cannot change
under anybody.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

__all__ = ["share_bytecode"]


def share_bytecode(env: str, donors: Iterable[str]) -> int:
    """Link into `env` the bytecode that `donors` (environments of the same interpreter) have for the very
    same files. Returns how many.
    """
    num_linked = 0
    target = _site_packages(env)
    for donor in donors:
        source = _site_packages(donor)
        if target and source:
            num_linked += _share(source, target)
    return num_linked


def _share(source: str, target: str) -> int:
    num_linked = 0
    for folder, folders, names in os.walk(source):
        here = os.path.join(target, os.path.relpath(folder, source))
        if os.path.basename(folder) != "__pycache__":
            if not os.path.isdir(here):
                folders.clear()  # a package that the other one lacks
            continue
        parent = os.path.dirname(here)
        if not os.path.isdir(parent):
            continue
        for name in names:
            stem = name.partition(".")[0] + ".py"
            if name.endswith(".pyc") and _is_same(
                os.path.join(os.path.dirname(folder), stem), os.path.join(parent, stem)
            ):
                num_linked += _link(os.path.join(folder, name), os.path.join(here, name))
    return num_linked


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _link(source: str, target: str) -> int:
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.link(source, target)
        return 1
    except OSError:
        return 0  # there already, or another file system: Python will compile


def _site_packages(env: str) -> str:
    found = glob.glob(os.path.join(glob.escape(env), "lib", "python3*", "site-packages"))
    return found[0] if found else ""
