"""Snapshots: lists of paths that point to content, named by the hash of the list."""

from __future__ import annotations

import json
import posixpath
import time
import zlib
from typing import Any, Optional

from sqlalchemy import insert, select

from rookery.errors import ConflictError, NotFoundError, PathError, UserError
from rookery.record.clock import utc_now
from rookery.record.content import check_sha256, missing_content
from rookery.record.database import Database
from rookery.record.schema import snapshots
from rookery.spec.names import check_artifact_name
from rookery.spec.snapshot import snapshot_id

__all__ = ["Snapshots", "check_entries"]

MAX_MODE = 0o7777
MAX_ASKED = 100_000


class Snapshots:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._asked: dict[str, float] = {}  # when somebody was told that it is there: a run may be about to name it

    def create(self, entries: Any) -> dict[str, Any]:
        """Stores the list; the same list again is the same snapshot.

        Raises:
            PathError: a path or link that leaves the folder, is there twice, or lies below a file.
            ConflictError: content is not stored; details have `missing`.
        """
        checked = check_entries(entries)
        found = snapshot_id(checked)
        answer = {"id": found, "files": len(checked), "bytes": sum(e["size"] for e in checked)}
        packed = zlib.compress(json.dumps(checked, separators=(",", ":")).encode("ascii"), 1)
        with self._db.write() as tx:
            if tx.conn.execute(select(snapshots.c.id).where(snapshots.c.id == found)).first():
                self._note_asked(found)
                return answer
            missing = missing_content(tx.conn, (e["sha256"] for e in checked if e["link"] is None))
            if missing:
                raise ConflictError(
                    f"{len(missing)} of the snapshot's files are not stored yet. Upload them, then create it again.",
                    details={"missing": missing},
                )
            tx.conn.execute(insert(snapshots).values(**answer, created_utc=utc_now(), entries=packed))
        return answer

    def entries(self, snapshot: str) -> list[dict[str, Any]]:
        with self._db.read() as conn:
            packed = conn.execute(select(snapshots.c.entries).where(snapshots.c.id == snapshot)).scalar()
        if packed is None:
            raise NotFoundError(f"Snapshot '{snapshot:.80}' does not exist in this workspace.")
        return json.loads(zlib.decompress(packed))

    def summary(self, snapshot: str) -> Optional[dict[str, Any]]:
        """Its id, how many files and bytes; None when it is not there."""
        columns = (snapshots.c.id, snapshots.c.files, snapshots.c.bytes)
        with self._db.read() as conn:
            row = conn.execute(select(*columns).where(snapshots.c.id == snapshot)).first()
        return None if row is None else {"id": row.id, "files": row.files, "bytes": row.bytes}

    def was_asked_for(self, snapshot: str, since: float) -> bool:
        """Whether somebody was told after `since` (unix seconds) that it is there."""
        return self._asked.get(snapshot, 0.0) >= since

    def _note_asked(self, snapshot: str) -> None:
        if len(self._asked) >= MAX_ASKED:
            self._asked.clear()
        self._asked[snapshot] = time.time()

    def exists(self, snapshot: str) -> bool:
        self._note_asked(snapshot)
        with self._db.read() as conn:
            return conn.execute(select(snapshots.c.id).where(snapshots.c.id == snapshot)).first() is not None


def check_entries(entries: Any) -> list[dict[str, Any]]:
    """The entries, sorted by path, each checked on its own and against the others."""
    if not isinstance(entries, list):
        raise UserError(f"entries must be a list, not {type(entries).__name__}.")
    checked = sorted((_check_entry(entry) for entry in entries), key=lambda e: e["path"])
    paths = {entry["path"] for entry in checked}
    if len(paths) != len(checked):
        seen: set[str] = set()
        twice = next(e["path"] for e in checked if e["path"] in seen or seen.add(e["path"]))  # type: ignore[func-returns-value]
        raise PathError(f"Snapshot path {twice!r:.100} is there twice.")
    for folder in {posixpath.dirname(path) for path in paths}:
        below = folder
        while folder:
            # A file or link that is also a folder: with a link this would write outside.
            if folder in paths:
                raise PathError(
                    f"Snapshot path {below!r:.100}/… lies below {folder!r:.100}, which is a file or a link."
                )
            folder = posixpath.dirname(folder)
    return checked


_FIELDS = frozenset({"path", "sha256", "size", "mode", "link"})


def _check_entry(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict) or not entry.keys() <= _FIELDS:
        raise UserError("A snapshot entry is an object with path, sha256, size, mode and link.")
    path, link, size, mode = entry.get("path"), entry.get("link"), entry.get("size"), entry.get("mode")
    plain = check_artifact_name(path)
    if plain != path:
        raise PathError(f"Snapshot path {path!r:.100} is not in its plain form, '{plain:.100}'.")
    for value, what, largest in ((size, "size", 2**63 - 1), (mode, "mode", MAX_MODE)):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
            raise UserError(f"Snapshot entry {path!r:.100}: {what}={value!r:.40} must be between 0 and {largest}.")
    sha256 = entry.get("sha256") or ""
    if link is None:
        check_sha256(sha256)
    else:
        _check_link(str(path), link)
    return {"path": path, "sha256": sha256, "size": size, "mode": mode, "link": link}


def _check_link(path: str, link: Any) -> None:
    """A link may go up only at its beginning, and not further than the folder: so no chain of links can leave it."""
    if not isinstance(link, str) or not link or len(link) > 4096 or any(ord(c) < 32 for c in link):
        raise PathError(f"Snapshot link {path!r:.100} has no valid target.")
    parts = [p for p in link.split("/") if p not in ("", ".")]
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    if link.startswith("/") or ".." in parts[ups:] or ups > path.count("/"):
        raise PathError(
            f"Snapshot link {path!r:.100} points to {link!r:.100}, out of the folder. Only links "
            "inside it can be taken."
        )
