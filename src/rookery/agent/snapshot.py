"""Bringing a snapshot into the working folder. Content is copied, never linked: scripts may write into their
own files."""

from __future__ import annotations

import os
from collections.abc import Callable

from rookery.agent.keeper import Keeper
from rookery.errors import PathError, RookeryError, SnapshotError
from rookery.spec.job import Job
from rookery.spec.names import check_artifact_name
from rookery.worker.copying import copy_file

__all__ = ["materialise"]


def materialise(keeper: Keeper, job: Job, warn: Callable[[str], None]) -> None:
    """Make the working folder: the snapshot's files with their modes, and the folders that the run is
    promised.

    Raises:
        SnapshotError: content is missing, or the disk is full.
    """
    try:
        os.makedirs(job.work, exist_ok=True)
        if job.snapshot_id:
            for entry in keeper.request("GET", f"/snapshots/{job.snapshot_id}")["entries"]:
                _place(keeper, job, entry, warn)
        for folder in (job.outputs, *job.watch_folders):
            os.makedirs(os.path.join(job.work, folder), exist_ok=True)
    except (OSError, RookeryError) as error:
        raise SnapshotError(f"The snapshot could not be brought to {job.work}: {error}") from error


def _place(keeper: Keeper, job: Job, entry: dict[str, object], warn: Callable[[str], None]) -> None:
    path = str(entry["path"])
    target = os.path.join(job.work, *check_artifact_name(path).split("/"))
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    if not _inside(os.path.realpath(folder), job.work):
        raise PathError(f"'{path}' leaves the working folder through a link.")
    link = entry.get("link")
    if link is not None:
        _place_link(job, target, path, str(link), warn)
        return
    if os.path.lexists(target):
        os.unlink(target)
    _fetch(keeper, job, str(entry["sha256"]), target)
    mode = int(str(entry.get("mode") or 0o644)) & 0o777
    os.chmod(target, mode | 0o600)


def _place_link(job: Job, target: str, path: str, link: str, warn: Callable[[str], None]) -> None:
    goal = os.path.normpath(os.path.join(os.path.dirname(target), link))
    if os.path.isabs(link) or not _inside(goal, job.work):
        warn(f"The link '{path}' leads out of the snapshot (to '{link}'); it is left out.")
        return
    if os.path.lexists(target):
        os.unlink(target)
    os.symlink(link, target)


def _fetch(keeper: Keeper, job: Job, sha256: str, target: str) -> None:
    if len(sha256) != 64 or not all(c in "0123456789abcdef" for c in sha256):
        raise SnapshotError(f"{sha256!r} is not a SHA-256.")
    if job.content_root:
        source = os.path.join(job.content_root, sha256[:2], sha256)
        try:
            copy_file(source, target)
            return
        except FileNotFoundError:
            if os.path.lexists(target):
                os.unlink(target)
        except PermissionError:
            pass
    keeper.download(f"/content/{sha256}", target)


def _inside(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return path in (real, folder) or path.startswith((real + os.sep, folder + os.sep))
