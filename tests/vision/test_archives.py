"""Archives from anywhere: what is in them comes out, what must not does not."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import stat
import tarfile
import zipfile

import pytest

from rookery_vision.errors import InvalidDatasetError
from rookery_vision.pictures.archives import unpack
from rookery_vision.pictures.limits import Limits

NAMES = {"a/1.png": b"one", "b c/2.jpg": b"two" * 1000}


def write(path, entries):
    kinds = {".tar": "w", ".gz": "w:gz", ".bz2": "w:bz2"}
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            for name, data in entries.items():
                z.writestr(name, data)
        return str(path)
    with tarfile.open(path, kinds[suffix]) as tar:
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return str(path)


def files(folder):
    found = {}
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


class TestUnpack:
    @pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tar.bz2", "X.ZIP"])
    def test_all_kinds(self, tmp_path, name):
        archive = write(tmp_path / name, NAMES)
        assert unpack(archive, str(tmp_path / "out")) == 2
        assert files(tmp_path / "out") == NAMES

    @pytest.mark.parametrize("suffix", [".zip", ".tar", ".gz", ".bz2"])
    @pytest.mark.parametrize("content", [b"", b"not an archive at all", b"PK\x03\x04rubbish", b"\x1f\x8b\x08rubbish"])
    def test_rubbish(self, tmp_path, suffix, content):
        path = tmp_path / ("x" + suffix)
        path.write_bytes(content)
        with pytest.raises(InvalidDatasetError):
            unpack(str(path), str(tmp_path / "out"))

    def test_a_gzip_of_something_else(self, tmp_path):
        (tmp_path / "x.gz").write_bytes(gzip.compress(b"a text, not a tar" * 100))
        (tmp_path / "x.bz2").write_bytes(bz2.compress(b"a text, not a tar" * 100))
        for name in ("x.gz", "x.bz2"):
            with pytest.raises(InvalidDatasetError, match="what its suffix says"):
                unpack(str(tmp_path / name), str(tmp_path / "out"))

    @pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz", ".tar.bz2"])
    def test_one_that_is_cut_off(self, tmp_path, suffix):
        whole = write(tmp_path / ("x" + suffix), {"a/1.png": os.urandom(60_000)})
        with open(whole, "rb") as f:
            data = f.read()
        (tmp_path / ("y" + suffix)).write_bytes(data[: len(data) // 2])
        with pytest.raises(InvalidDatasetError):
            unpack(str(tmp_path / ("y" + suffix)), str(tmp_path / "out"))

    @pytest.mark.parametrize("suffix", [".zip", ".tar"])
    def test_an_empty_one(self, tmp_path, suffix):
        with pytest.raises(InvalidDatasetError, match="is empty"):
            unpack(write(tmp_path / ("x" + suffix), {}), str(tmp_path / "out"))

    @pytest.mark.parametrize("suffix", [".zip", ".tar"])
    @pytest.mark.parametrize(
        "name", ["../out.png", "/tmp/out.png", "a/../../out.png", "..\\out.png", "C:\\out.png", "a/..", "."]
    )
    def test_names_that_lead_out(self, tmp_path, suffix, name):
        archive = write(tmp_path / ("x" + suffix), {"good/1.png": b"1", name: b"evil"})
        with pytest.raises(InvalidDatasetError, match="leads out"):
            unpack(archive, str(tmp_path / "deep" / "out"))
        assert set(os.listdir(tmp_path)) == {"x" + suffix, "deep"}

    def test_links_in_a_tar(self, tmp_path):
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            with tarfile.open(tmp_path / "x.tar", "w") as tar:
                info = tarfile.TarInfo("a/1.png")
                info.type, info.linkname = kind, "/etc/passwd"
                tar.addfile(info)
            with pytest.raises(InvalidDatasetError, match=r"link or a device|cannot be unpacked"):
                unpack(str(tmp_path / "x.tar"), str(tmp_path / "out"))
            assert files(tmp_path / "out") == {}

    def test_links_in_a_zip(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as z:
            info = zipfile.ZipInfo("a/1.png")
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            z.writestr(info, "/etc/passwd")
        with pytest.raises(InvalidDatasetError, match="link or a device"):
            unpack(str(tmp_path / "x.zip"), str(tmp_path / "out"))

    def test_a_password(self, tmp_path):
        archive = write(tmp_path / "x.zip", {"1.png": b"1"})
        with open(archive, "r+b") as f:
            data = bytearray(f.read())
            data[6] |= 1  # the flag in the local header, and in the directory
            data[data.index(b"PK\x01\x02") + 8] |= 1
            f.seek(0)
            f.write(data)
        with pytest.raises(InvalidDatasetError, match="password"):
            unpack(archive, str(tmp_path / "out"))

    @pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tar.bz2"])
    def test_a_bomb_goes_no_further_than_the_limit(self, tmp_path, suffix, monkeypatch):
        monkeypatch.setattr(Limits, "RATIO_FREE_BYTES", 4 * 1024**2)
        archive = write(tmp_path / ("x" + suffix), {"a/1.png": bytes(32 * 1024**2)})
        with pytest.raises(InvalidDatasetError, match="zip bomb"):
            unpack(archive, str(tmp_path / "out"), Limits(ratio=2))
        assert os.path.getsize(tmp_path / "out" / "a" / "1.png") <= 5 * 1024**2

    def test_a_zip_that_lies_about_its_sizes(self, tmp_path, monkeypatch):
        monkeypatch.setattr(Limits, "RATIO_FREE_BYTES", 1024**2)
        archive = write(tmp_path / "x.zip", {"a/1.png": bytes(8 * 1024**2)})
        with open(archive, "r+b") as f:
            data = bytearray(f.read())
            place = data.index(b"PK\x01\x02") + 24  # uncompressed size in the directory
            data[place : place + 4] = (10).to_bytes(4, "little")
            f.seek(0)
            f.write(data)
        with pytest.raises(InvalidDatasetError):
            unpack(archive, str(tmp_path / "out"), Limits(ratio=1))

    def test_too_many_files(self, tmp_path):
        archive = write(tmp_path / "x.zip", {f"a/{i}.png": b"" for i in range(12)})
        with pytest.raises(InvalidDatasetError, match="more than 10 files"):
            unpack(archive, str(tmp_path / "out"), Limits(entries=10))

    def test_a_file_where_a_folder_must_be(self, tmp_path):
        archive = write(tmp_path / "x.tar", {"a": b"file", "a/1.png": b"1"})
        with pytest.raises(InvalidDatasetError, match="same name"):
            unpack(archive, str(tmp_path / "out"))


class TestLimits:
    def test_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("ROOKERY_VISION_MAX_PIXELS", "100")
        assert Limits.from_environment() == Limits(pixels=100)

    def test_a_bad_one(self, monkeypatch):
        from rookery_vision.errors import ParameterParsingError

        monkeypatch.setenv("ROOKERY_VISION_MAX_RATIO", "much")
        with pytest.raises(ParameterParsingError, match="ROOKERY_VISION_MAX_RATIO is 'much'"):
            Limits.from_environment()
