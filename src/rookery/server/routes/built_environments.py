"""Environments that are built on this machine: list, show, prune. They are shared by all workspaces of a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from rookery.environments.building.folders import EnvironmentFolder, environments_folder, uv_cache_folder
from rookery.environments.specification.requirement import mask
from rookery.errors import UserError
from rookery.record.clock import from_unix
from rookery.server.answers import JsonAnswer, answer
from rookery.server.schemas import EnvironmentPrune

if TYPE_CHECKING:
    from rookery.environments.building import store

__all__ = ["router"]

router = APIRouter(tags=["built environments"])
MAX_LOG = 4 * 1024 * 1024


@router.get("/built-environments")
def list_built(measure: bool = True) -> JsonAnswer:
    """All of them, the last used first. `measure=false` leaves out sizes, for which every file is looked at."""
    from rookery.environments.building import store  # loaded when first needed: the keeper starts without the builder

    found = store.list_environments(measure)
    told: dict[str, Any] = {"environments": [_plain(one, measure) for one in found]}
    if measure:
        together = store.disk_use(environments_folder(), uv_cache_folder())
        told["disk_bytes"] = together.own_bytes + together.shared_bytes
        told["cache_bytes"] = store.disk_use(uv_cache_folder()).own_bytes
    return answer(told)


@router.get("/built-environments/{key}")
def get_built(key: str) -> JsonAnswer:
    """One, by the beginning of its key, with its lock and its build log."""
    from rookery.environments.building import store

    one = store.show_environment(key)
    lock = one.lock
    told = {
        **_plain(one),
        "python_requested": lock.python_requested if lock else "",
        "platform": lock.platform if lock else "",
        "asked": list(lock.asked) if lock else [],
        "notes": list(lock.notes) if lock else [],
        "lock": mask(lock.packages) if lock else "",
        "conda": list(lock.conda) if lock else [],
        "log": _read_log(EnvironmentFolder(one.key).log),
    }
    return answer(told)


@router.post("/built-environments/prune")
def prune_built(wanted: EnvironmentPrune) -> JsonAnswer:
    """Remove those that no run uses; those named, or all. `freed_bytes` counts what only they hold."""
    from rookery.environments.building import store

    if wanted.older_than_s < 0:
        raise UserError(f"older_than_s={wanted.older_than_s:g} must not be negative.")
    keys = None if wanted.keys is None else [store.show_environment(key).key for key in wanted.keys]
    going = store.prune(wanted.older_than_s, keys, dry_run=True)
    freed = store.disk_use(*(EnvironmentFolder(one.key).root for one in going)).own_bytes
    gone = going if wanted.dry_run else store.prune(wanted.older_than_s, [one.key for one in going])
    if not wanted.dry_run and keys is None:
        store.prune(wanted.older_than_s)  # and what builds that died have left
    freed_cache = 0
    if wanted.cache:
        # What goes with the cache is counted after the environments are gone: until then they share it.
        cache = uv_cache_folder()
        freed_cache = (
            store.disk_use(cache, *(EnvironmentFolder(one.key).root for one in going)).own_bytes - freed
            if wanted.dry_run
            else store.prune_cache()
        )
    kept = [store.show_environment(key) for key in keys or () if key not in {one.key for one in gone}]
    return answer(
        {
            "removed": [_plain(one) for one in gone],
            "kept": [{"key": one.key, "name": one.name, "reason": _why_kept(one, wanted.older_than_s)} for one in kept],
            "freed_bytes": freed + freed_cache,
            "cache_bytes": freed_cache,
            "dry_run": wanted.dry_run,
        }
    )


def _plain(one: store.StoredEnvironment, measured: bool = True) -> dict[str, Any]:
    return {
        "key": one.key,
        "name": one.name,
        "python_version": one.python_version,
        "num_packages": one.num_packages,
        "built_utc": from_unix(one.built),
        "last_used_utc": from_unix(one.last_used),
        "build_s": round(one.seconds, 3),
        "own_bytes": one.disk.own_bytes if measured else None,
        "shared_bytes": one.disk.shared_bytes if measured else None,
        "in_use_by": list(one.in_use_by),
        "deviations": list(one.deviations),
        "path": one.path,
    }


def _why_kept(one: store.StoredEnvironment, older_than_s: float) -> str:
    if one.in_use_by:
        return f"in use by {', '.join(one.in_use_by)}"
    return f"used less than {older_than_s:g} s ago" if older_than_s else "it is being built or removed at this moment"


def _read_log(path: str) -> str:
    try:
        with open(path, "rb") as f:
            return f.read(MAX_LOG).decode("utf-8", "replace")
    except OSError:
        return ""
