"""Bringing a snapshot into the working folder. Content is copied, never linked: scripts may write into their
own files."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from typing import Any

from rookery.agent.content_cache import ContentCache
from rookery.agent.keeper import Keeper
from rookery.agent.node import node_facts
from rookery.errors import PathError, RookeryError, SnapshotError
from rookery.spec.job import Job
from rookery.spec.names import check_artifact_name
from rookery.worker.copying import copy_file

__all__ = ["materialise"]

TOGETHER = 32  # files
SMALL_BYTES = 1024 * 1024


def materialise(
    keeper: Keeper, job: Job, warn: Callable[[str], None], pulse: Callable[[], None] = lambda: None
) -> None:
    """Make the working folder: the snapshot's files with their modes, and the folders that the run is
    promised.

    Raises:
        SnapshotError: content is missing, or the disk is full.
    """
    try:
        os.makedirs(job.work, exist_ok=True)
        if job.snapshot_id:
            entries = keeper.request("GET", f"/snapshots/{job.snapshot_id}")["entries"]
            facts = node_facts(job)
            if facts is not None and not facts.shared:
                _fetch_together(keeper, job.snapshot_id, entries, ContentCache(keeper, facts.content), job.work)
            for entry in entries:
                _place(keeper, job, entry, warn)
                pulse()
        for folder in (job.outputs, *job.watch_folders):
            os.makedirs(os.path.join(job.work, folder), exist_ok=True)
    except (OSError, RookeryError) as error:
        raise SnapshotError(f"The snapshot could not be brought to {job.work}: {error}") from error


def _fetch_together(
    keeper: Keeper, snapshot_id: str, entries: list[dict[str, Any]], cache: ContentCache, folder: str
) -> None:
    """Many files that are not on this node yet come as one zip: a thousand requests take longer than their bytes."""
    wanted = {str(e["path"]): str(e["sha256"]) for e in entries if e.get("sha256") and not cache.has(str(e["sha256"]))}
    missing = sum(int(e.get("size") or 0) for e in entries if str(e["path"]) in wanted)
    whole = sum(int(e.get("size") or 0) for e in entries)
    if len(wanted) < TOGETHER or whole > 2 * missing + SMALL_BYTES:
        return
    file = os.path.join(os.path.dirname(folder), "snapshot.zip")
    try:
        keeper.download(f"/snapshots/{snapshot_id}/zip", file)
        with zipfile.ZipFile(file) as zipped:
            for name in zipped.namelist():
                if name in wanted and not cache.has(wanted[name]):
                    with zipped.open(name) as source:
                        cache.add(wanted[name], source)
    except zipfile.BadZipFile as error:
        raise SnapshotError(f"the snapshot came damaged: {error}") from error
    finally:
        if os.path.exists(file):
            os.unlink(file)


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
    facts = node_facts(job)
    if facts is not None and not facts.shared:
        copy_file(ContentCache(keeper, facts.content).get(sha256), target)
        return
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
