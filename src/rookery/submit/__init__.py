"""Taking a snapshot of a source folder: walk, hash, send what is new. Standard library only, Python 3.9 and
newer."""

from __future__ import annotations

from rookery.submit.git import git_properties, git_properties_in_background
from rookery.submit.ignore import IgnoreRules
from rookery.submit.snapshot import Snapshot, take_snapshot
from rookery.submit.walk import walk

__all__ = [
    "IgnoreRules",
    "Snapshot",
    "git_properties",
    "git_properties_in_background",
    "take_snapshot",
    "walk",
]
