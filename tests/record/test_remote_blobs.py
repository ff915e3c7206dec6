from __future__ import annotations

import hashlib
import io
import os
import secrets

import pytest

from rookery.errors import ConfigError, StorageError
from rookery.record.content import Content
from rookery.record.remote_blobs import RemoteBlobs


@pytest.fixture(scope="module")
def s3():
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    from rookery.testing.s3_server import s3_server

    with s3_server() as address:
        yield address


@pytest.fixture(params=["s3", "folder"])
def url(request, tmp_path):
    if request.param == "folder":
        return f"file://{tmp_path / 'an artifact folder'}"
    request.getfixturevalue("s3")
    return f"s3://rookery-test/{secrets.token_hex(4)}"


@pytest.fixture
def store(record, tmp_path, url):
    return Content(record.database, str(tmp_path / "content"), url)


class TestStore:
    def test_up_down_and_parts(self, store, tmp_path):
        data = os.urandom(11_000_000)  # several parts, and several blocks when read
        sha, size = store.put(io.BytesIO(data))
        assert (sha, size) == (hashlib.sha256(data).hexdigest(), len(data))
        with store.open(sha) as f:
            assert f.read() == data
            f.seek(9_999_999)
            assert f.read(10) == data[9_999_999:10_000_009]
        assert store.local_path(sha) is None
        assert os.listdir(tmp_path / "content" / "incoming") == []
        assert [found[:2] for found in store.files()] == [(sha, size)]

    def test_what_was_stored_here_before_is_still_read(self, store, record, tmp_path):
        before = Content(record.database, str(tmp_path / "content"))
        sha, _ = before.put(io.BytesIO(b"older"))
        with store.open(sha) as f:
            assert f.read() == b"older"

    def test_a_file_with_a_row_is_not_removed(self, store):
        sha, _ = store.put(io.BytesIO(b"named"))
        assert not store.remove_file(sha)
        with store.open(sha) as f:
            assert f.read() == b"named"


class TestErrors:
    def test_an_unknown_place(self):
        with pytest.raises(ConfigError, match="nowhere://x"):
            RemoteBlobs("nowhere://x/y")

    def test_what_passes_is_tried_again_and_what_stays_is_said(self, tmp_path, monkeypatch):
        monkeypatch.setattr("rookery.record.remote_blobs.time.sleep", lambda _s: None)
        blobs = RemoteBlobs(f"file://{tmp_path}/store")
        (tmp_path / "f").write_bytes(b"x")
        put_file, failures = blobs._fs.put_file, [ConnectionResetError("gone"), ConnectionResetError("gone")]

        def flaky(*arguments):
            if failures:
                raise failures.pop()
            return put_file(*arguments)

        monkeypatch.setattr(blobs._fs, "put_file", flaky)
        blobs.put(str(tmp_path / "f"), "ab" * 32)
        with blobs.open("ab" * 32) as f:
            assert f.read() == b"x"
        failures.extend([ConnectionResetError("gone")] * 9)
        with pytest.raises(StorageError, match="Tried 4 times"):
            blobs.put(str(tmp_path / "f"), "cd" * 32)
