"""What is built on this machine: list, show, use, prune."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from rookery.environments.building.build import remove_folder
from rookery.environments.building.flocks import hold_lock
from rookery.environments.building.folders import (
    EnvironmentFolder,
    environments_folder,
    read_json,
    uv_cache_folder,
    write_json,
)
from rookery.environments.building.leases import hold, release_hold, users
from rookery.environments.building.lock import Lock
from rookery.environments.python.uv_program import find_uv
from rookery.errors import EnvironmentBuildError, NotFoundError

__all__ = [
    "DiskUse",
    "StoredEnvironment",
    "disk_use",
    "hold",
    "list_environments",
    "prune",
    "prune_cache",
    "release_hold",
    "show_environment",
]

CACHE_WAIT_S = 10
JUST_USED_S = 60.0  # somebody may have been handed it and not have said so yet


@dataclass(frozen=True)
class DiskUse:
    """own: bytes that go when it goes. shared: bytes that other environments or the cache hold too (hard
    links).
    """

    own_bytes: int = 0
    shared_bytes: int = 0


@dataclass(frozen=True)
class StoredEnvironment:
    key: str
    name: str
    python_version: str
    num_packages: int
    built: float
    last_used: float
    seconds: float
    disk: DiskUse
    in_use_by: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    path: str = ""
    lock: Lock | None = field(default=None, repr=False)


def list_environments(measure: bool = True) -> list[StoredEnvironment]:
    """All that are built, the last used first.

    Args:
        measure: look at every file for the disk use (a quarter of a second for one with torch).
    """
    found = [_stored(key, measure) for key in _keys()]
    return sorted((one for one in found if one is not None), key=lambda one: -one.last_used)


def show_environment(key: str) -> StoredEnvironment:
    """One, by its key or the beginning of it.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    fitting = [k for k in _keys() if k.startswith(key)] if key else []
    found = _stored(fitting[0]) if len(fitting) == 1 else None
    if found is None:
        several = f"{len(fitting)} environments begin with it" if len(fitting) > 1 else "there is none"
        raise NotFoundError(f"Environment key {key!r}: {several}. See `rookery env list`.")
    return found


def prune(
    unused_for_s: float = 0.0, keys: Iterable[str] | None = None, dry_run: bool = False
) -> list[StoredEnvironment]:
    """Remove environments that nobody uses, and what builds that died left. Returns what was removed (or
    would be).

    Args:
        unused_for_s: only those last used longer ago.
        keys: only these; else all. Those named are removed even if they were used a moment ago.
    """
    named = None if keys is None else {show_environment(k).key for k in keys}
    removed = []
    for key in _keys():
        if named is not None and key not in named:
            continue
        folder = EnvironmentFolder(key)
        one = _stored(key)
        if one is None and named is None and not dry_run:
            _remove(folder)
            continue
        age = time.time() - one.last_used if one else 0.0
        if one is None or one.in_use_by or age < unused_for_s or (named is None and age < JUST_USED_S):
            continue
        if dry_run or _remove(folder):
            removed.append(one)
    return removed


def prune_cache() -> int:
    """Remove uv's cache of downloaded packages. Returns the bytes freed: files that built environments share
    stay theirs.

    Raises:
        EnvironmentBuildError: a build is using it.
    """
    if not os.path.isdir(uv_cache_folder()):
        return 0
    freed = disk_use(uv_cache_folder()).own_bytes
    command = [find_uv(), "--no-config", "cache", "clean"]  # which knows whether another uv is at work
    environment = {**os.environ, "UV_CACHE_DIR": uv_cache_folder(), "UV_LOCK_TIMEOUT": str(CACHE_WAIT_S)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise EnvironmentBuildError(
            f"The cache in {uv_cache_folder()} cannot be removed now; an environment may be being built. Try again when it "
            f"is done. uv said: {done.stderr.strip()[-500:]}"
        )
    return freed


def disk_use(*roots: str) -> DiskUse:
    """Real use of folders together: blocks, not lengths; a file with several links counts once, and as
    shared if a link is outside.
    """
    seen: dict[tuple[int, int], list[int]] = {}
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in [".", *names]:
                try:
                    about = os.lstat(os.path.join(folder, name))
                except OSError:
                    continue
                links = 1 if name == "." else about.st_nlink
                seen.setdefault((about.st_dev, about.st_ino), [about.st_blocks * 512, links, 0])[2] += 1
    own = sum(size for size, links, here in seen.values() if here >= links)
    return DiskUse(own, sum(size for size, _, _ in seen.values()) - own)


def _remove(folder: EnvironmentFolder) -> bool:
    """Under the key's lock, so that nothing is removed while it is built; a lock that is held means it is
    busy: left alone.
    """
    try:
        with hold_lock(folder.key, time.monotonic()):
            if users(folder) or not _take_marker(folder):
                return False
            remove_folder(folder.root)
            shutil.rmtree(folder.leases, ignore_errors=True)
            return True
    except EnvironmentBuildError:
        return False


def _take_marker(folder: EnvironmentFolder) -> bool:
    """Make it look unbuilt, unless somebody has come for it in this very moment."""
    marker = read_json(folder.marker)
    if marker is None:
        return True
    used = os.stat(folder.marker).st_mtime
    os.unlink(folder.marker)
    if not users(folder):
        return True
    write_json(folder.marker, marker)
    os.utime(folder.marker, (used, used))
    return False


def _keys() -> list[str]:
    try:
        return sorted(e.name for e in os.scandir(environments_folder()) if re.fullmatch(r"[0-9a-f]{32}", e.name))
    except FileNotFoundError:
        return []


def _stored(key: str, measure: bool = True) -> StoredEnvironment | None:
    folder = EnvironmentFolder(key)
    marker = read_json(folder.marker)
    if marker is None:
        return None
    try:
        lock = Lock.from_data(read_json(folder.lock) or {})
    except ValueError:
        lock = None
    return StoredEnvironment(
        key=key,
        name=str(marker.get("name", "")),
        python_version=str(marker.get("python_version", "")),
        num_packages=int(marker.get("num_packages", 0)),
        built=float(marker.get("built", 0)),
        last_used=os.stat(folder.marker).st_mtime,
        seconds=float(marker.get("seconds", 0)),
        disk=disk_use(folder.root) if measure else DiskUse(),
        in_use_by=tuple(users(folder)),
        deviations=lock.deviations if lock else (),
        path=folder.env,
        lock=lock,
    )
