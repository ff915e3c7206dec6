"""One file from the keeper to a folder: whole or not at all, checked by hash, never outside it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from typing import TYPE_CHECKING, Any, BinaryIO

from rookery.errors import PathError, ServiceError
from rookery.spec.names import check_artifact_name

if TYPE_CHECKING:
    from rookery.sdk.progress import Progress

__all__ = ["fetch"]


def fetch(client: Any, url: str, folder: str, file: dict[str, Any]) -> str:
    """Downloads `file` (name or path, size, perhaps sha256) below `folder`; returns where it lies."""
    from rookery.sdk.progress import Progress

    name = check_artifact_name(file.get("name") or file.get("path"))
    target = os.path.join(folder, *name.split("/"))
    parent = os.path.dirname(target)
    os.makedirs(parent, exist_ok=True)
    root = os.path.realpath(folder)
    if os.path.commonpath([root, os.path.realpath(parent)]) != root:
        raise PathError(f"{target!r} leads out of {folder!r} through a symbolic link. Give another folder with --to.")
    handle, partial = tempfile.mkstemp(dir=parent, prefix=".rookery-")
    try:
        with os.fdopen(handle, "w+b") as out, Progress(name, file.get("size") or 0) as bar:
            client.download(url, _Counted(out, bar))
            if file.get("sha256") and _sha256(out) != file["sha256"]:
                raise ServiceError(f"{name!r} arrived damaged (another SHA-256 than recorded). Download it again.")
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, target)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
    return target


class _Counted:
    """A file that tells a bar what is written to it. The rest is the file's: a download can begin anew."""

    def __init__(self, out: BinaryIO, bar: Progress) -> None:
        self._out, self._bar = out, bar

    def write(self, data: bytes) -> int:
        self._bar.add(len(data))
        return self._out.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


def _sha256(file: BinaryIO) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(1024 * 1024):
        digest.update(chunk)
    return digest.hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
