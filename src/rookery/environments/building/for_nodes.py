"""What another machine needs to build an environment: the lock, where its packages come from, and the files that only this
machine has. Plain data; `node.py` reads it there.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

from rookery.environments.building.builder import resolve_only
from rookery.environments.building.lock import Lock
from rookery.environments.python.pip_config import UV_PASSED, PipConfig
from rookery.environments.specification.requirement import normal_name
from rookery.errors import EnvironmentBuildError
from rookery.settings import get_setting
from rookery.spec.run import EnvironmentSpec

__all__ = ["build_data"]

# Settings of the keeper that decide how a build goes. Those about what is asked for were used when it was resolved.
SETTINGS = ("environment_build_timeout_s", "conda_link_scripts", "conda_channel_timeout_s")
_FILE_URL = re.compile(r"file://[^\s;#\\]+")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)


def build_data(
    spec: EnvironmentSpec, log: Callable[[bytes], None], workspace_root: str | None = None, again: bool = False
) -> dict[str, Any]:
    """`{"kind": "build", …}`. Each of `files` has a `path` here, its `sha256` and `name`, and the `url` by which the lock names
    it, if it does.

    Raises:
        UserError, EnvironmentBuildError: it cannot be resolved.
    """
    plan, lock = resolve_only(spec, log, workspace_root, again)
    return {
        "kind": "build",
        "name": plan.name,
        "lock": lock.to_data(),
        "config": asdict(plan.config),
        "uv": {k: os.environ[k] for k in UV_PASSED if os.environ.get(k) and "PYTHON" not in k},
        "channels": list(plan.wanted.channels),
        "conda": [d.text for d in plan.wanted.conda],
        "files": [*_named_files(lock), *_found_files(lock, plan.config)],
        "settings": {name: get_setting(name, workspace_root) for name in SETTINGS},
        "variables": dict(spec.variables),
        "deviations": list(lock.deviations),
    }


def _named_files(lock: Lock) -> list[dict[str, str]]:
    """Those that the lock names by a path of this machine."""
    found = []
    for url in dict.fromkeys(_FILE_URL.findall(lock.packages)):
        path = unquote(urlsplit(url).path)
        if not os.path.isfile(path):
            raise EnvironmentBuildError(
                f"Environment '{lock.name}': {path} cannot be brought to other machines: it is not a file. Build a wheel of "
                "it (`pip wheel`) and ask for that."
            )
        found.append({"name": os.path.basename(path), "path": path, "sha256": _sha256(path), "url": url})
    return found


def _found_files(lock: Lock, config: PipConfig) -> list[dict[str, str]]:
    """Archives of find-links folders that the lock means: by name, version and hash."""
    pins = {(normal_name(name), version) for name, version in _PIN.findall(lock.packages)}
    hashes = set(_HASH.findall(lock.packages))
    found: dict[str, dict[str, str]] = {}
    for folder in config.find_links_folders():
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if _pin_of(name) not in pins or not os.path.isfile(path):
                continue
            sha256 = _sha256(path)
            if not hashes or sha256 in hashes:
                found.setdefault(name, {"name": name, "path": path, "sha256": sha256})
    return list(found.values())


def _pin_of(name: str) -> tuple[str, str]:
    """name and version of an archive."""
    if name.endswith(".whl"):
        project, version = (*name.split("-"), "", "")[:2]
    elif name.endswith((".tar.gz", ".zip")):
        project, _, version = name.removesuffix(".tar.gz").removesuffix(".zip").rpartition("-")
    else:
        return "", ""
    return normal_name(project), unquote(version)


def _sha256(path: str) -> str:
    about = os.stat(path)
    return _hashed(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=1000)
def _hashed(path: str, _modified: int, _size: int) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while data := f.read(1024 * 1024):
            digest.update(data)
    return digest.hexdigest()
