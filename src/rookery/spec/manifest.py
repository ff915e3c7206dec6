"""A manifest: what a data set comes to at one moment, as the sorted list of its files. Pure data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

__all__ = ["Entry", "Manifest", "ManifestStore", "content_key", "make_manifest", "manifest_from_plain"]


class Entry(NamedTuple):
    """One file; in JSON a list of these six. A path that ends with '/' is an empty folder."""

    path: str
    size: int
    key: str  # stands for the content: see content_key
    store: int  # index into the manifest's stores
    at: str  # the path there; empty: the same as `path`
    etag: str = ""  # of a folder: the mtime in ns

    @property
    def place(self) -> str:
        return self.at or self.path

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")


@dataclass(frozen=True)
class ManifestStore:
    """Where entries lie. `folder` is an absolute path on the keeper's machine, for whoever sees the same files."""

    kind: str
    name: str  # of the datastore; of a source by URL the URL without what is secret in it
    folder: Optional[str] = None


@dataclass(frozen=True)
class Manifest:
    """`hashed`: keys are the SHA-256 of contents; else some stand for (store, path, size, etag)."""

    id: str
    fingerprint: str
    files: int
    bytes: int
    is_single: bool
    hashed: bool
    stores: tuple[ManifestStore, ...]
    entries: tuple[Entry, ...]

    def head(self) -> dict[str, Any]:
        """All but the entries."""
        return {
            "id": self.id,
            "fingerprint": self.fingerprint,
            "files": self.files,
            "bytes": self.bytes,
            "is_single": self.is_single,
            "hashed": self.hashed,
            "stores": [{"kind": s.kind, "name": s.name, "folder": s.folder} for s in self.stores],
        }

    def to_plain(self) -> dict[str, Any]:
        return {**self.head(), "entries": [list(entry) for entry in self.entries]}


def make_manifest(
    stores: Iterable[ManifestStore], entries: Iterable[Entry], is_single: bool = False, hashed: bool = True
) -> Manifest:
    """Sorts, counts and names: the same stores and entries give the same id, the same contents the same fingerprint."""
    rows = sorted(entries)
    places = tuple(stores)
    contents = hashlib.sha256(json.dumps([row[:3] for row in rows], separators=(",", ":")).encode("ascii"))
    whole = [[[s.kind, s.name, s.folder] for s in places], is_single, hashed, rows]
    named = hashlib.sha256(json.dumps(whole, separators=(",", ":")).encode("ascii"))
    files = [row for row in rows if not row.is_folder]
    return Manifest(
        id=named.hexdigest(),
        fingerprint=contents.hexdigest(),
        files=len(files),
        bytes=sum(row.size for row in files),
        is_single=is_single,
        hashed=hashed,
        stores=places,
        entries=tuple(rows),
    )


def manifest_from_plain(data: dict[str, Any]) -> Manifest:
    """From `to_plain`, as it comes from the keeper."""
    return Manifest(
        id=data["id"],
        fingerprint=data["fingerprint"],
        files=data["files"],
        bytes=data["bytes"],
        is_single=data["is_single"],
        hashed=data["hashed"],
        stores=tuple(ManifestStore(s["kind"], s["name"], s.get("folder")) for s in data["stores"]),
        entries=tuple(Entry(*row) for row in data["entries"]),
    )


def content_key(store: str, path: str, size: int, etag: str) -> str:
    """What stands for a content whose SHA-256 nobody has computed: equal only for the same version of the same file."""
    text = json.dumps(["etag", store, path, size, etag], separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
