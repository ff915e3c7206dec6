"""Who uses a built environment: one small file for each process that does. Quick to import; `store` prunes by it."""

from __future__ import annotations

import json
import os
import re
import threading

from rookery.environments.building.flocks import start_ticks
from rookery.environments.building.folders import EnvironmentFolder, read_json
from rookery.errors import UserError

__all__ = ["hold", "lease_path", "release_hold", "users"]

_OWNER = re.compile(r"[\w.-]{1,200}")


def hold(key: str, owner: str, pid: int, holder: str = "") -> bool:
    """Note that a process uses an environment: it is not pruned while that process lives. Several may hold it for the same
    owner, each under a name of its own.

    Returns:
        Whether it is there. Said after the lease is written, and pruning looks at leases once more after it has taken the
        marker away: one of the two notices the other.
    """
    if not _OWNER.fullmatch(owner) or (holder and not _OWNER.fullmatch(holder)):
        raise UserError(f"Owner {owner!r} of a lease must be a run's id.")
    path = lease_path(key, owner, holder)
    lease = {"owner": owner, "pid": pid, "start_ticks": start_ticks(pid)}
    if read_json(path) != lease:
        _write(path, lease)
    return EnvironmentFolder(key).is_built()


def lease_path(key: str, owner: str, holder: str = "") -> str:
    return os.path.join(EnvironmentFolder(key).leases, f"{owner}@{holder}.json" if holder else f"{owner}.json")


def release_hold(key: str, owner: str) -> None:
    """The opposite, for all who hold it for this owner. Harmless when there is none; a dead process's lease does not count
    anyway.
    """
    leases = EnvironmentFolder(key).leases
    try:
        names = os.listdir(leases)
    except OSError:
        return
    for name in names:
        if name == owner + ".json" or name.startswith(owner + "@"):
            try:
                os.unlink(os.path.join(leases, name))
            except OSError:
                pass


def users(folder: EnvironmentFolder) -> list[str]:
    """The owners for whom a living process holds it."""
    try:
        names = sorted(os.listdir(folder.leases))
    except OSError:
        return []
    leases = [read_json(os.path.join(folder.leases, n)) or {} for n in names if n.endswith(".json")]
    alive = [
        str(one["owner"])
        for one in leases
        if one.get("pid") and start_ticks(int(one["pid"])) == one.get("start_ticks") != -1
    ]
    return list(dict.fromkeys(alive))


def _write(path: str, lease: dict[str, object]) -> None:
    """Whole or not at all, but not waited for: a lease that a power cut takes away was of a process that is gone too."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    with open(temporary, "w", encoding="utf-8") as f:
        json.dump(lease, f)
    os.replace(temporary, path)
