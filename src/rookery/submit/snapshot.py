"""take_snapshot: a source folder becomes a snapshot at the keeper."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from rookery.client import Client
from rookery.errors import ConflictError, SnapshotError
from rookery.settings import get_setting
from rookery.spec.snapshot import entry, snapshot_id
from rookery.submit.hashing import HashCache, hash_file
from rookery.submit.size import size_warning
from rookery.submit.upload import Sender
from rookery.submit.walk import Found, walk

__all__ = ["Snapshot", "take_snapshot"]

TRIES = 4


@dataclass(frozen=True)
class Snapshot:
    """What was taken, and what of it had to travel."""

    id: str
    files: int
    bytes: int
    sent_files: int
    sent_bytes: int
    warnings: tuple[str, ...]
    paths: frozenset[str] = frozenset()

    def holds(self, path: str) -> bool:
        """Whether a file can be opened by this relative path: it is there, or a link on its way is."""
        parts = os.path.normpath(path).split(os.sep)
        return any("/".join(parts[:n]) in self.paths for n in range(1, len(parts) + 1))


def take_snapshot(
    client: Client,
    folder: str,
    on_warning: Optional[Callable[[str], None]] = None,
    progress: Optional[Callable[[int, int], None]] = None,
) -> Snapshot:
    """Take the folder (or one file) as it is now. What the keeper has already is not sent; an unchanged
    folder is one question.

    Args:
        on_warning: called with each warning (what was left out and why, a folder that is very large) as it
        arises.
        progress: called with (bytes sent, bytes to send) as content travels.

    Raises:
        SnapshotError: the folder is none, or something in it cannot be read or keeps changing.
    """
    warnings: list[str] = []

    def warn(text: str) -> None:
        warnings.append(text)
        if on_warning is not None:
            on_warning(text)

    folder, only = os.path.realpath(folder), None
    if os.path.isfile(folder):
        folder, only = os.path.split(folder)
    cache = HashCache(os.path.join(folder, only or ""))
    try:
        found = walk(folder, warn) if only is None else [Found(only, os.stat(os.path.join(folder, only)))]
        entries, fresh = _entries(folder, found, cache)
        large = size_warning(
            folder, [(e["path"], e["size"]) for e in entries], get_setting("snapshot_warn_bytes", client.root)
        )
        if large:
            warn(large)
        sender = Sender(client, folder, progress)
        saving = threading.Thread(target=cache.save, name="rookery-hash-cache")
        saving.start()  # while the keeper works
        try:
            identifier = _store(client, entries, fresh, sender)
        finally:
            saving.join()
    finally:
        cache.close()
    return Snapshot(
        identifier,
        len(entries),
        sum(e["size"] for e in entries),
        sender.sent_files,
        sender.sent_bytes,
        tuple(warnings),
        frozenset(e["path"] for e in entries),
    )


def _entries(folder: str, found: list[Found], cache: HashCache) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The entries, sorted by path, and those among them whose hash was not remembered: the keeper may not
    have these."""
    entries: list[dict[str, Any]] = []
    fresh: list[dict[str, Any]] = []
    prefix = folder + "/"
    for path, status, link in found:
        if link is not None:
            entries.append(_link_entry(path, link))
            continue
        digest = cache.get(path, status)
        if digest is not None:
            entries.append(entry(path, digest, status.st_size, 0o755 if status.st_mode & 0o100 else 0o644))
            continue
        try:
            digest, status = hash_file(prefix + path)
        except FileNotFoundError:
            continue  # removed since the walk
        cache.put(path, status, digest)
        # git's two modes, so that the id does not depend on the umask.
        fresh.append(entry(path, digest, status.st_size, 0o755 if status.st_mode & 0o100 else 0o644))
    fresh.sort(key=_path)
    entries.extend(fresh)
    entries.sort(key=_path)
    return entries, fresh


def _store(client: Client, entries: list[dict[str, Any]], fresh: list[dict[str, Any]], sender: Sender) -> str:
    """Make the keeper have the snapshot; its id."""
    identifier = snapshot_id(entries)
    if client.exists("/snapshots/" + identifier):
        return identifier
    todo = fresh
    for _ in range(TRIES):
        if todo:
            sender.send(todo)
        try:
            answer: dict[str, Any] = client.request("POST", "/snapshots", body={"entries": entries})
            return str(answer["id"])
        except ConflictError as error:
            # Remembered here, and not there: another workspace, or content that was cleaned away.
            missing = set(error.details.get("missing") or ())
            if not missing:
                raise
            todo = [e for e in entries if e["sha256"] in missing and e["link"] is None]
    raise SnapshotError("The keeper still lacks content that was sent to it. See `rookery keeper status` and its log.")


def _link_entry(path: str, target: str) -> dict[str, Any]:
    text = target.encode("utf-8")
    return entry(path, hashlib.sha256(text).hexdigest(), len(text), 0o777, target)


def _path(item: dict[str, Any]) -> str:
    path: str = item["path"]
    return path
