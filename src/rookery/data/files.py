"""The bytes of a manifest's files, for whoever cannot reach the stores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import BinaryIO

from rookery.data.resolve import resolver_of
from rookery.errors import DataError, NotFoundError
from rookery.record import Record
from rookery.spec.manifest import Entry, Manifest
from rookery.stores import Store

__all__ = ["CHUNK", "entry_at", "find_entry", "read_entries", "read_entry"]

CHUNK = 256 * 1024


def entry_at(manifest: Manifest, index: int) -> Entry:
    """The file with this number."""
    if not 0 <= index < len(manifest.entries) or manifest.entries[index].is_folder:
        raise NotFoundError(f"The manifest has no file number {index}; it has {len(manifest.entries)} entries.")
    return manifest.entries[index]


def find_entry(manifest: Manifest, path: str) -> int:
    """The index of the file at `path`."""
    low, high = 0, len(manifest.entries)
    while low < high:
        middle = (low + high) // 2
        if manifest.entries[middle].path < path:
            low = middle + 1
        else:
            high = middle
    if low < len(manifest.entries) and manifest.entries[low].path == path:
        return low
    raise NotFoundError(f"The data set has no file '{path:.255}'.")


def read_entry(record: Record, manifest: Manifest, index: int) -> tuple[Entry, BinaryIO]:
    """One file, open at its beginning, in the version that the manifest means."""
    entry = entry_at(manifest, index)
    store = resolver_of(record).source(manifest.stores[entry.store])
    return entry, _open(store, entry)


def read_entries(record: Record, manifest: Manifest, first: int, count: int) -> Iterator[bytes]:
    """The bytes of `count` files from `first` on, one after the other. Raises in the middle rather than give other bytes."""
    stores: dict[int, Store] = {}
    for index in range(first, min(first + count, len(manifest.entries))):
        entry = manifest.entries[index]
        if entry.is_folder:
            continue
        if entry.store not in stores:
            stores[entry.store] = resolver_of(record).source(manifest.stores[entry.store])
        left = entry.size
        with contextlib.closing(_open(stores[entry.store], entry)) as file:
            while left:
                piece = file.read(min(CHUNK, left))
                if not piece:
                    raise DataError(f"'{entry.path}' is shorter than it was when it was listed.")
                left -= len(piece)
                yield piece


def _open(store: Store, entry: Entry) -> BinaryIO:
    return store.open(entry.place, entry.etag, 0, entry.size)
