"""Manifests: what definitions came to, by the hash of what they say."""

from __future__ import annotations

import json
import threading
import time
import zlib
from typing import Any

from sqlalchemy import insert, select, update

from rookery.errors import NotFoundError
from rookery.record.clock import from_unix, utc_now
from rookery.record.database import Database, Tx
from rookery.record.schema_data import data_manifests
from rookery.spec.manifest import Manifest, manifest_from_plain

__all__ = ["Manifests"]

TOUCHED_S = 3600.0  # one that is asked for again is made young so often at most
KEPT = 4  # manifests in memory: whoever fetches files asks for the same one again and again


class Manifests:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._recent: dict[str, Manifest] = {}

    def put(self, manifest: Manifest) -> None:
        """Stores it; the same one again changes nothing but its age, which `rookery gc` looks at."""
        rows = [list(entry) for entry in manifest.entries]
        packed = zlib.compress(json.dumps(rows, separators=(",", ":")).encode("ascii"), 1)
        with self._db.write() as tx:
            self._insert(tx, manifest, packed)
        self._remember(manifest)

    def head(self, manifest_id: str) -> dict[str, Any]:
        """Everything but the entries."""
        with self._db.read() as conn:
            found = conn.execute(select(data_manifests.c.head).where(data_manifests.c.id == manifest_id)).scalar()
        if found is None:
            raise _not_found(manifest_id)
        return dict(found)

    def get(self, manifest_id: str) -> Manifest:
        with self._lock:
            known = self._recent.pop(manifest_id, None)
            if known is not None:
                self._recent[manifest_id] = known
                return known
        with self._db.read() as conn:
            row = conn.execute(select(data_manifests).where(data_manifests.c.id == manifest_id)).first()
        if row is None:
            raise _not_found(manifest_id)
        manifest = manifest_from_plain({**row.head, "entries": json.loads(zlib.decompress(row.entries))})
        self._remember(manifest)
        return manifest

    def _remember(self, manifest: Manifest) -> None:
        with self._lock:
            self._recent[manifest.id] = manifest
            while len(self._recent) > KEPT:
                self._recent.pop(next(iter(self._recent)))

    def _insert(self, tx: Tx, manifest: Manifest, packed: bytes) -> None:
        this = data_manifests.c.id == manifest.id
        made = tx.conn.execute(select(data_manifests.c.created_utc).where(this)).scalar()
        if made is not None:
            if made < from_unix(time.time() - TOUCHED_S):
                tx.conn.execute(update(data_manifests).where(this).values(created_utc=utc_now()))
            return
        tx.conn.execute(
            insert(data_manifests).values(
                id=manifest.id,
                fingerprint=manifest.fingerprint,
                files=manifest.files,
                bytes=manifest.bytes,
                created_utc=utc_now(),
                head=manifest.head(),
                entries=packed,
            )
        )


def _not_found(manifest_id: str) -> NotFoundError:
    return NotFoundError(f"Manifest '{manifest_id:.80}' does not exist in this workspace.")
