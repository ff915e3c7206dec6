"""`_meta.yaml`: what kind of folder this is. Small YAML files are read here and nowhere else, safely."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional

__all__ = ["META", "VERSION", "read_meta", "read_yaml", "write_meta", "write_yaml"]

META = "_meta.yaml"
VERSION = "1.0"
SIZE_LIMIT = 1024 * 1024  # one that is larger was not written by us


def read_meta(folder: str) -> Optional[dict[str, Any]]:
    """The content of `_meta.yaml`, or None where there is none that can be read."""
    return read_yaml(os.path.join(folder, META))


def write_meta(folder: str, kind: str, **more: Any) -> None:
    """Written last: a folder without it is not whole."""
    write_yaml(os.path.join(folder, META), {"type": kind, "version": VERSION, **more})


def read_yaml(path: str) -> Optional[dict[str, Any]]:
    """A mapping, or None."""
    import yaml

    try:
        if os.path.getsize(path) > SIZE_LIMIT:
            return None
        with open(path, encoding="utf-8") as f:
            data = yaml.safe_load(f)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    return data if isinstance(data, dict) else None


def write_yaml(path: str, data: Mapping[str, Any]) -> None:
    import yaml

    partial = path + ".part"
    with open(partial, "w", encoding="utf-8") as f:
        yaml.safe_dump(dict(data), f, sort_keys=False, allow_unicode=True)
    os.replace(partial, path)
