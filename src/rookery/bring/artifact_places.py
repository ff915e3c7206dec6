"""Artifact addresses of another tracker, as folders of this machine."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Optional

from rookery.bring.base import File

__all__ = ["folder_of", "open_file", "walk_folder"]

PROXY = "mlflow-artifacts:"


def folder_of(address: str, near: str, root: Optional[str] = None, guesses: Sequence[str] = ()) -> str:
    """The folder that an address means here.

    near: the folder that a relative path is meant from. root: where the server keeps what clients call `mlflow-artifacts:`.
    guesses: folders to look at when the address leads nowhere, because everything was moved.

    Raises:
        FileNotFoundError: there is none; the words say what to do.
    """
    tried = [*_candidates(address, near, root), *guesses]
    for folder in tried:
        if os.path.isdir(folder):
            return folder
    if address.startswith(PROXY) and root is None:
        raise FileNotFoundError(
            f"{address} is kept by a server. Import from that server, or say with --artifacts where it keeps its files."
        )
    scheme = urllib.parse.urlsplit(address).scheme
    if scheme and scheme != "file" and not address.startswith(PROXY):
        raise FileNotFoundError(
            f"{address} cannot be read from here. Import from the tracking server instead of its database."
        )
    if not os.path.isdir(near):
        raise FileNotFoundError(f"{near} is no folder.")
    # A run that has logged no file often has no folder either.
    return ""


def walk_folder(folder: str) -> Iterator[File]:
    """Every file below it, by path; links are followed to files that lie inside of it only."""
    if not folder:
        return
    real = os.path.realpath(folder)
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(here, name)
            target = os.path.realpath(full)
            if os.path.isfile(full) and (target == full or target.startswith(real + os.sep)):
                yield File(os.path.relpath(full, folder).replace(os.sep, "/"), os.path.getsize(full), full)


def open_file(file: File) -> BinaryIO:
    return open(file.handle, "rb")


def _candidates(address: str, near: str, root: Optional[str]) -> list[str]:
    if address.startswith(PROXY):
        path = urllib.parse.unquote(urllib.parse.urlsplit(address).path).strip("/")
        return [os.path.join(root, path)] if root else []
    if address.startswith("file:"):
        return [urllib.parse.unquote(urllib.parse.urlsplit(address).path)]
    if "://" in address or not address:
        return []
    return [os.path.join(near, address)]
