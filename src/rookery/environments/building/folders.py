"""Every path of built environments, in one place.

<ROOKERY_HOME>/environments/<key>/      env/, lock.json, build.log, built.json (written last)
<ROOKERY_HOME>/environments/resolved/ <request>.json: what a specification resolved to, or how it failed;
<request>.log
<ROOKERY_HOME>/environments/locks/ one file per key and per request; never removed, so that nobody locks a
ghost
<ROOKERY_HOME>/environments/leases/     <key>/<owner>.json: who is using it
<ROOKERY_HOME>/cache/uv                 on the same file system as the environments: hard links
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from typing import Any

from rookery.settings import rookery_home

__all__ = [
    "EnvironmentFolder",
    "cache_folder",
    "environments_folder",
    "lock_path",
    "read_json",
    "request_path",
    "uv_cache_folder",
    "write_json",
]


@dataclass(frozen=True)
class EnvironmentFolder:
    key: str

    @property
    def root(self) -> str:
        return os.path.join(environments_folder(), self.key)

    @property
    def env(self) -> str:
        return os.path.join(self.root, "env")

    @property
    def bin_dir(self) -> str:
        return os.path.join(self.env, "bin")

    @property
    def python(self) -> str:
        return os.path.join(self.bin_dir, "python")

    @property
    def lock(self) -> str:
        return os.path.join(self.root, "lock.json")

    @property
    def requirements(self) -> str:
        return os.path.join(self.root, "requirements.txt")

    @property
    def log(self) -> str:
        return os.path.join(self.root, "build.log")

    @property
    def marker(self) -> str:
        return os.path.join(self.root, "built.json")

    @property
    def image(self) -> str:
        """Which image it was made for; only there where it lives in a container, with the interpreter of the image."""
        return os.path.join(self.root, "image.txt")

    @property
    def leases(self) -> str:
        return os.path.join(environments_folder(), "leases", self.key)

    def is_built(self) -> bool:
        """The marker is there and the interpreter can be reached (its base may have been removed since)."""
        return os.path.exists(self.marker) and (os.path.exists(self.python) or os.path.exists(self.image))


def environments_folder() -> str:
    return os.path.join(rookery_home(), "environments")


def cache_folder() -> str:
    return os.path.join(rookery_home(), "cache")


def uv_cache_folder() -> str:
    return os.path.join(cache_folder(), "uv")


def lock_path(name: str) -> str:
    return os.path.join(environments_folder(), "locks", name)


def request_path(request: str, ending: str = ".json") -> str:
    return os.path.join(environments_folder(), "resolved", request + ending)


def read_json(path: str) -> dict[str, Any] | None:
    """The object in a file of ours; None where it is missing or damaged (then it is made again)."""
    try:
        with open(path, encoding="utf-8") as f:
            value = json.load(f)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: str, value: Any) -> None:
    """Write a file that is whole or not there, also after a power cut."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".tmp-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            json.dump(value, f, indent=1, sort_keys=True)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
