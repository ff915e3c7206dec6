"""Zips from outside, unpacked into a datastore: nothing of them is believed."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from typing import IO

from rookery.errors import PathError, UserError
from rookery.spec.names import check_artifact_name
from rookery.stores import Store

__all__ = ["ArchiveLimits", "unpack"]

CHUNK = 1024 * 1024
RATIO = 1000  # zeros compress to a thousandth; what claims more is a bomb
SKIPPED = ("__MACOSX/", ".DS_Store", "Thumbs.db")


class ArchiveLimits:
    def __init__(self, max_files: int, max_bytes: int) -> None:
        self.max_files, self.max_bytes = max_files, max_bytes


def unpack(file: IO[bytes], packed_bytes: int, store: Store, prefix: str, limits: ArchiveLimits) -> dict[str, int]:
    """Writes the files of a zip below `prefix`; all of its names are looked at before the first is written.

    Raises:
        UserError: it is no zip, or damaged, or too large.
        PathError: a name in it leads out of its folder.
    """
    try:
        with zipfile.ZipFile(file) as zipped:
            members = list(_members(zipped, packed_bytes, limits))
            total = 0
            for info, path in members:
                whole = f"{prefix}/{path}" if prefix else path
                if info.is_dir():
                    continue
                with zipped.open(info) as source, store.writer(whole) as writer:
                    left = info.file_size
                    while piece := source.read(CHUNK):
                        left -= len(piece)
                        if left < 0:
                            raise UserError(f"'{path:.200}' in the zip is larger than the zip says. It is refused.")
                        writer.write(piece)
                    writer.commit()
                total += info.file_size
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"The file is no zip that can be read: {error}.") from None
    return {"files": sum(not info.is_dir() for info, _ in members), "bytes": total}


def _members(
    zipped: zipfile.ZipFile, packed_bytes: int, limits: ArchiveLimits
) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    infos = zipped.infolist()
    if len(infos) > limits.max_files:
        raise UserError(f"The zip holds {len(infos)} files; {limits.max_files} are allowed (upload_max_files).")
    total, seen = 0, set()
    for info in infos:
        name = info.filename
        if name.startswith(SKIPPED) or name.rpartition("/")[2] in SKIPPED:
            continue
        path = _checked(name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise UserError(f"'{path:.200}' in the zip is a link or a device. Only files and folders are taken.")
        if info.flag_bits & 0x1:
            raise UserError("The zip is encrypted. Upload one without a password.")
        if path in seen and not info.is_dir():
            raise UserError(f"'{path:.200}' is in the zip twice.")
        seen.add(path)
        total += info.file_size
        if total > limits.max_bytes:
            raise UserError(f"The zip unpacks to more than {limits.max_bytes} bytes (upload_max_bytes). It is refused.")
        if total > RATIO * max(packed_bytes, 1024):
            raise UserError("The zip unpacks to more than a thousand times its size. It is refused.")
        yield info, path


def _checked(name: str) -> str:
    """Absolute paths, drives, '..' are refused."""
    try:
        return check_artifact_name(name)
    except PathError:
        raise PathError(
            f"{name!r:.200} in the zip leads out of it, or is no name of a file. The zip is refused. Make one whose names are paths below its "
            "top, without '..'."
        ) from None
