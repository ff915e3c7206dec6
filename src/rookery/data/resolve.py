"""From a definition to a manifest: listing, naming, hashing, leaving out."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rookery.data.globs import compile_glob
from rookery.data.hashes import Hashes
from rookery.errors import DataError, PathError
from rookery.record import Record
from rookery.record.datastores import Datastores
from rookery.record.manifests import Manifests
from rookery.settings import get_setting
from rookery.spec.data_definition import FILE, base_folder, has_wildcard
from rookery.spec.manifest import Entry, Manifest, ManifestStore, content_key, make_manifest
from rookery.spec.names import check_artifact_name
from rookery.spec.paths import WorkspacePaths
from rookery.stores import Store, StoreFile, open_store, open_url
from rookery.stores.folder import FolderStore

__all__ = ["Resolver", "resolver_of", "select_files"]


@dataclass
class _Listed:
    """What one source came to. `base` is the folder below which its files keep their paths."""

    store: Store
    base: str
    files: list[StoreFile]
    is_single: bool


_resolvers: weakref.WeakKeyDictionary[Record, Resolver] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def resolver_of(record: Record) -> Resolver:
    """The resolver of a record; there is one."""
    with _making:
        found = _resolvers.get(record)
        if found is None:
            found = _resolvers[record] = Resolver(record.paths.root, record.datastores, record.manifests)
        return found


class Resolver:
    """One per keeper: it remembers hashes and open stores."""

    def __init__(self, root: str, datastores: Datastores, manifests: Manifests) -> None:
        self._root, self._datastores, self._manifests = root, datastores, manifests
        self._hashes = Hashes(WorkspacePaths(root).data_hashes)
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Any, Store]] = {}

    def store(self, name: str) -> Store:
        """An open datastore; opened anew when what is recorded of it has changed."""
        recorded = self._datastores.opening(name)
        with self._lock:
            known = self._open.get(name)
            if known is not None and known[0] == recorded:
                return known[1]
        store = open_store(name, *recorded)
        with self._lock:
            self._open[name] = (recorded, store)
        return store

    def resolve(self, definition: dict[str, Any]) -> Manifest:
        """The manifest of a checked definition, stored.

        Raises:
            DataError: a source is not there, comes to nothing or changes; two files would get one path.
            DatastoreNotFoundError: a datastore is gone.
        """
        listed = [self._list(source, definition) for source in definition["sources"]]
        entries, stores = self._entries(listed)
        if definition["kind"] == FILE:
            entries = select_files(entries, definition.get("steps") or ())
        files = [entry for entry in entries if not entry.is_folder]
        is_single = len(listed) == 1 and listed[0].is_single and len(files) == 1
        hashed = self._hash(stores, entries)
        places = [ManifestStore(s.kind, s.name, s.folder) for s in stores]
        manifest = make_manifest(places, entries, is_single, hashed)
        self._manifests.put(manifest)
        self._hashes.close()
        return manifest

    def source(self, store: ManifestStore) -> Store:
        """The open store behind one of a manifest's."""
        if "://" in store.name:
            return FolderStore(store.name, store.folder, True) if store.folder else open_url(store.name)[0]
        return self.store(store.name)

    def _list(self, source: dict[str, Any], definition: dict[str, Any]) -> _Listed:
        if "url" in source:
            store, path = open_url(source["url"])
            shown = store.name
        else:
            store, path = self.store(source["datastore"]), source["path"]
            shown = store.shown(path)
        if has_wildcard(path) and not (isinstance(path, str) and store.find(path)):
            base = base_folder(path)
            wanted = compile_glob(path)
            found = [f for f in store.files(base) if not f.is_folder and wanted.match(f.path)]
            if not found:
                raise DataError(
                    f"No file matches {shown}. Look at the pattern: `*` stays within a folder, `**` does not."
                )
            return _Listed(store, base, found, False)
        found = list(store.files(path))
        if not any(not f.is_folder for f in found):
            raise DataError(f"There is no file below {shown}.")
        single = len(found) == 1 and found[0].path == path
        return _Listed(store, os.path.dirname(path) if single else path, found, single)

    def _entries(self, listed: Sequence[_Listed]) -> tuple[list[Entry], list[Store]]:
        """Paths in the manifest, and where they lie; several sources keep what tells them apart."""
        stores: list[Store] = []
        numbers: dict[str, int] = {}
        for one in listed:
            if one.store.identity not in numbers:
                numbers[one.store.identity] = len(stores)
                stores.append(one.store)
        common = _common_bases(listed)
        entries: dict[str, Entry] = {}
        for one in listed:
            number = numbers[one.store.identity]
            base = common.get(one.store.identity, one.base)
            cut = len(base) + 1 if base else 0
            for file in one.files:
                path = check_artifact_name(file.path[cut:]) if file.path[cut:] else ""
                if not path:
                    continue
                if file.is_folder:
                    entry = Entry(path + "/", 0, "", number, file.path if file.path != path else "", "")
                else:
                    at = file.path if file.path != path else ""
                    entry = Entry(path, file.size, "", number, at, file.etag)
                before = entries.get(entry.path)
                if before is not None and before != entry:
                    raise DataError(
                        f"Two files of the data set would be called '{entry.path}': one of {stores[before.store].name}, one of "
                        f"{one.store.name}. Give the folder that holds both, or two data sets."
                    )
                entries[entry.path] = entry
        _check_tree(entries)
        return list(entries.values()), stores

    def _hash(self, stores: list[Store], entries: list[Entry]) -> bool:
        """Fills in the keys; True when all are hashes of contents."""
        limit = get_setting("data_hash_bytes", self._root)
        all_hashed = True
        for number, store in enumerate(stores):
            mine = [i for i, entry in enumerate(entries) if entry.store == number and not entry.is_folder]
            if store.folder is not None and sum(entries[i].size for i in mine) <= limit:
                given = [(entries[i].place, entries[i].size, entries[i].etag) for i in mine]
                found = self._hashes.of(store.folder, given)
                for i in mine:
                    sha, size, etag = found[entries[i].place]
                    entries[i] = entries[i]._replace(key=sha, size=size, etag=etag)
                continue
            for i in mine:
                entries[i], is_hash = _key_without_hashing(store, entries[i], limit)
                all_hashed = all_hashed and is_hash
        return all_hashed


def select_files(entries: list[Entry], steps: Sequence[dict[str, Any]]) -> list[Entry]:
    """What is left of a file data set's entries, in order of their paths. Deterministic: a seed gives the same files."""
    if not steps:
        return entries
    files = sorted(entry for entry in entries if not entry.is_folder)
    for step in steps:
        op = step["op"]
        if op == "take":
            files = files[: step["count"]]
        elif op == "skip":
            files = files[step["count"] :]
        elif op == "sample":
            files = [f for f in files if _share(f.path, step["seed"]) < step["probability"]]
        elif op == "split":
            # By rank in a shuffled order: the parts have exactly their shares, and never overlap.
            shuffled = sorted(files, key=lambda f: (_share(f.path, step["seed"]), f.path))
            first, last = (round(step[edge] * len(files)) for edge in ("low", "high"))
            files = sorted(shuffled[first:last])
        elif op == "filter_files":
            files = [f for f in files if _passes(f, step.get("where") or {})]
    if not files:
        raise DataError("Nothing is left of the data set after take, skip, sample or split.")
    return files


def _share(path: str, seed: int) -> float:
    """A number in [0, 1) that depends on nothing but path and seed."""
    digest = hashlib.blake2b(f"{seed}\0{path}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def _passes(entry: Entry, where: dict[str, Any]) -> bool:
    if "glob" in where and not compile_glob(str(where["glob"])).match(entry.path):
        return False
    return int(where.get("min_bytes") or 0) <= entry.size <= int(where.get("max_bytes") or 1 << 62)


def _common_bases(listed: Sequence[_Listed]) -> dict[str, str]:
    """Per store the longest folder that all of its sources share."""
    found: dict[str, list[str]] = {}
    for one in listed:
        found.setdefault(one.store.identity, []).append(one.base)
    if len(listed) == 1:
        return {}
    return {identity: _common(bases) for identity, bases in found.items()}


def _common(bases: list[str]) -> str:
    parts = [base.split("/") if base else [] for base in bases]
    shared: list[str] = []
    for level in zip(*parts):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return "/".join(shared)


def _check_tree(entries: dict[str, Entry]) -> None:
    """A file cannot be a folder too."""
    folders = set()
    for path in entries:
        parent = os.path.dirname(path.rstrip("/"))
        while parent and parent not in folders:
            folders.add(parent)
            parent = os.path.dirname(parent)
    for folder in folders:
        if folder in entries:
            raise PathError(f"'{folder}' is a file of one source and a folder of another.")


def _key_without_hashing(store: Store, entry: Entry, limit: int) -> tuple[Entry, bool]:
    if entry.etag:
        return entry._replace(key=content_key(store.identity, entry.place, entry.size, entry.etag)), False
    # A server that tells no version of a file: only its content can.
    if entry.size > limit:
        raise DataError(f"{store.shown(entry.place)} has no ETag and {entry.size} bytes. Copy it to a datastore first.")
    digest, size = hashlib.sha256(), 0
    with store.open(entry.place) as file:
        while piece := file.read(1024 * 1024):
            digest.update(piece)
            size += len(piece)
    return entry._replace(key=digest.hexdigest(), size=size), True
