"""A conda channel made by hand in a folder: packages in both formats, and the repodata.json that lists them."""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

PLACEHOLDER = "/made/by/hand/" + "_placehold" * 20


@dataclass(frozen=True)
class CondaPackage:
    """files: path → text; a path in `links` → target of a symbolic link. A text with PLACEHOLDER gets the prefix."""

    name: str
    version: str = "1.0"
    files: dict[str, str] = field(default_factory=dict)
    depends: tuple[str, ...] = ()
    noarch: str = "generic"
    entry_points: tuple[str, ...] = ()
    links: dict[str, str] = field(default_factory=dict)
    build_number: int = 0
    ending: str = ".conda"

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}-0{self.ending}"


class ChannelMaker:
    """Adds packages to a folder; `subdir` is noarch for all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._packages: dict[str, dict[str, object]] = {}
        self._write()

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def add(self, *packages: CondaPackage, hashes: bool = True) -> ChannelMaker:
        for package in packages:
            data = _packed(package)
            (self.folder / "noarch" / package.file_name).write_bytes(data)
            about = {**_index(package), "size": len(data)}
            if hashes:
                about.update(md5=hashlib.md5(data).hexdigest(), sha256=hashlib.sha256(data).hexdigest())
            self._packages[package.file_name] = about
        self._write()
        return self

    def path(self, package: CondaPackage) -> Path:
        return self.folder / "noarch" / package.file_name

    def _write(self) -> None:
        (self.folder / "noarch").mkdir(parents=True, exist_ok=True)
        listed = {
            "info": {"subdir": "noarch"},
            "packages": {n: p for n, p in self._packages.items() if n.endswith(".tar.bz2")},
            "packages.conda": {n: p for n, p in self._packages.items() if n.endswith(".conda")},
            "repodata_version": 1,
        }
        (self.folder / "noarch" / "repodata.json").write_text(json.dumps(listed))


def _index(package: CondaPackage) -> dict[str, object]:
    return {
        "name": package.name,
        "version": package.version,
        "build": "0",
        "build_number": package.build_number,
        "depends": list(package.depends),
        "noarch": package.noarch,
        "subdir": "noarch",
        "license": "none",
        "timestamp": 1_600_000_000_000,
    }


def _packed(package: CondaPackage) -> bytes:
    info = {
        "info/index.json": json.dumps(_index(package)),
        "info/files": "".join(f"{p}\n" for p in sorted([*package.files, *package.links])),
        "info/paths.json": json.dumps({"paths": _paths(package), "paths_version": 1}),
        "info/about.json": "{}",
    }
    if package.entry_points:
        link = {
            "noarch": {"type": "python", "entry_points": list(package.entry_points)},
            "package_metadata_version": 1,
        }
        info["info/link.json"] = json.dumps(link)
    if package.ending == ".tar.bz2":
        return _tar({**info, **package.files}, package.links, "w:bz2")
    stem = package.file_name.removesuffix(".conda")
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in (
            ("metadata.json", json.dumps({"conda_pkg_format_version": 2}).encode()),
            (f"pkg-{stem}.tar.zst", _zstd(_tar(package.files, package.links))),
            (f"info-{stem}.tar.zst", _zstd(_tar(info, {}))),
        ):
            archive.writestr(zipfile.ZipInfo(name), data)  # with its fixed date: the same package has the same hash
    return whole.getvalue()


def _paths(package: CondaPackage) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for path, text in sorted(package.files.items()):
        data = text.encode()
        about: dict[str, object] = {
            "_path": path,
            "path_type": "hardlink",
            "sha256": hashlib.sha256(data).hexdigest(),
            "size_in_bytes": len(data),
        }
        if PLACEHOLDER in text:
            about.update(prefix_placeholder=PLACEHOLDER, file_mode="text")
        found.append(about)
    empty = hashlib.sha256(b"").hexdigest()
    return found + [
        {"_path": p, "path_type": "softlink", "sha256": empty, "size_in_bytes": 0} for p in sorted(package.links)
    ]


def _tar(files: dict[str, str], links: dict[str, str], mode: str = "w") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode) as archive:  # type: ignore[call-overload]
        for path, text in files.items():
            about = tarfile.TarInfo(path)
            about.size = len(text.encode())
            about.mode = 0o755 if os.path.dirname(path) == "bin" else 0o644
            about.mtime = 1_600_000_000
            archive.addfile(about, io.BytesIO(text.encode()))
        for path, target in links.items():
            about = tarfile.TarInfo(path)
            about.type, about.linkname = tarfile.SYMTYPE, target
            archive.addfile(about)
    return whole.getvalue()


def _zstd(data: bytes) -> bytes:
    """A frame of uncompressed blocks: any reader of zstd takes it, and no compressor is needed to write it."""
    frame = struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))  # single segment, size in eight bytes
    blocks = [data[i : i + 131072] for i in range(0, len(data), 131072)] or [b""]
    for i, block in enumerate(blocks):
        header = (len(block) << 3) | (1 if i == len(blocks) - 1 else 0)
        frame += struct.pack("<I", header)[:3] + block
    return frame
