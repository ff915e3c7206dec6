"""Unpacking an archive that nobody vouches for: entry by entry, counted by what comes out."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, Optional

from rookery_vision.errors import InvalidDatasetError
from rookery_vision.pictures.limits import Limits

__all__ = ["SUFFIXES", "is_archive", "unpack"]

SUFFIXES = (".zip", ".tar", ".gz", ".bz2")
CHUNK = 1024 * 1024
_MODES: dict[str, Any] = {".tar": "r:", ".gz": "r:gz", ".bz2": "r:bz2"}


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def unpack(archive: str, target: str, limits: Optional[Limits] = None) -> int:
    """Unpack below `target`; returns how many files came out.

    Raises:
        InvalidDatasetError: it is not what its suffix says, empty, or holds what may not be unpacked.
    """
    limits = limits or Limits.from_environment()
    allowed, out, count = limits.unpacked_for(os.path.getsize(archive)), 0, 0
    try:
        for name, stream in _entries(archive):
            count += 1
            if count > limits.entries:
                raise InvalidDatasetError(
                    f"{archive} holds more than {limits.entries} files. Raise ROOKERY_VISION_MAX_ENTRIES if that is meant."
                )
            path = _place(archive, target, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                while True:
                    data = stream.read(CHUNK)
                    if not data:
                        break
                    out += len(data)
                    if out > allowed:
                        raise InvalidDatasetError(
                            f"{archive} unpacks to more than {allowed} bytes, far more than its own size: it looks like a "
                            "zip bomb. Unpack it yourself and give the folder if it is not."
                        )
                    f.write(data)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise InvalidDatasetError(f"{archive} has a file and a folder of the same name: {error.filename}.") from error
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise _broken(archive, error) from error
    except OSError as error:
        if error.errno is not None:  # the disk's, not the archive's
            raise
        raise _broken(archive, error) from error
    if not count:
        raise InvalidDatasetError(f"{archive} is empty. Give an archive with pictures in it.")
    return count


def _broken(archive: str, error: BaseException) -> InvalidDatasetError:
    return InvalidDatasetError(
        f"{archive} cannot be unpacked: {error or type(error).__name__}. Its content must be what its suffix says, whole, in one "
        f"file and without a password. Suffixes: {', '.join(SUFFIXES)}."
    )


def _entries(archive: str) -> Iterator[tuple[str, IO[bytes]]]:
    """(name, stream) of every file in it."""
    if archive.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as z:
            for info in z.infolist():
                mode = info.external_attr >> 16
                if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise InvalidDatasetError(
                        f"{archive}: {info.filename!r} is a link or a device. Only files may be in it."
                    )
                if not info.is_dir():
                    with z.open(info) as stream:
                        yield info.filename, stream
        return
    suffix = os.path.splitext(archive.lower())[1]
    with tarfile.open(archive, _MODES[suffix]) as tar:
        for member in tar:
            if member.isdir():
                continue
            extracted = tar.extractfile(member) if member.isreg() else None
            if extracted is None:
                raise InvalidDatasetError(f"{archive}: {member.name!r} is a link or a device. Only files may be in it.")
            with extracted as stream:
                yield member.name, stream


def _place(archive: str, target: str, name: str) -> str:
    """Where an entry goes. Names that would leave the target are refused, not bent."""
    parts = [p for p in name.replace("\\", "/").split("/") if p not in ("", ".")]
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name or not parts or parts[0].endswith(":"):
        raise InvalidDatasetError(f"{archive}: the name {name!r} leads out of the archive. It may not be unpacked.")
    return os.path.join(target, *parts)
