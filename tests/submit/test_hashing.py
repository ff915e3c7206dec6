from __future__ import annotations

import hashlib
import os
import threading

import pytest

from rookery.errors import SnapshotError
from rookery.submit import hashing
from rookery.submit.hashing import HashCache, hash_file
from tests.client.conftest import wait_for


@pytest.fixture
def old_file(source):
    """A file that is older than any stamp that is taken from now on."""
    path = source / "a.py"
    path.write_text("one")
    wait_for(lambda: _clock(source) > os.stat(path).st_ctime_ns)
    return path


def _clock(folder):
    (folder / ".clock").write_text("")
    now = os.stat(folder / ".clock").st_mtime_ns
    (folder / ".clock").unlink()
    return now


def remember(source, path):
    cache = HashCache(str(source))
    cache.put("a.py", os.stat(path), hash_file(str(path))[0])
    cache.save()


class TestHashCache:
    def test_remembers(self, source, old_file):
        remember(source, old_file)
        assert HashCache(str(source)).get("a.py", os.stat(old_file)) == hashlib.sha256(b"one").hexdigest()

    def test_a_changed_file_is_not_remembered(self, source, old_file):
        remember(source, old_file)
        before = os.stat(old_file)
        old_file.write_text("two")
        os.utime(old_file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the same size and mtime; ctime tells
        assert HashCache(str(source)).get("a.py", os.stat(old_file)) is None

    def test_the_racy_rule(self, source):
        """A file written after the stamp was taken is not trusted, though nothing of it may differ."""
        path = source / "a.py"
        cache = HashCache(str(source))
        path.write_text("one")
        cache.put("a.py", os.stat(path), hash_file(str(path))[0])
        cache.save()
        assert HashCache(str(source)).get("a.py", os.stat(path)) is None

    def test_another_folder_has_its_own(self, source, old_file, tmp_path):
        remember(source, old_file)
        assert HashCache(str(tmp_path)).get("a.py", os.stat(old_file)) is None

    @pytest.mark.parametrize(
        "content", ["", "{", "[]", '{"format": 99, "files": {}}', '{"format": 1, "files": {"a.py": [1]}}']
    )
    def test_a_broken_one_is_as_none(self, source, old_file, home, content):
        remember(source, old_file)
        (saved,) = (home / "cache" / "hashes").iterdir()
        saved.write_text(content)
        assert HashCache(str(source)).get("a.py", os.stat(old_file)) is None

    def test_leaves_nothing_behind(self, source, old_file, home):
        remember(source, old_file)
        HashCache(str(source)).close()
        same = HashCache(str(source))
        same.get("a.py", os.stat(old_file))
        same.save()
        assert len(list((home / "cache" / "hashes").iterdir())) == 1

    def test_works_where_nothing_can_be_written(self, source, old_file, monkeypatch):
        monkeypatch.setenv("ROOKERY_HOME", "/proc/nowhere")
        remember(source, old_file)

    def test_forgets_the_oldest(self, tmp_path, home, monkeypatch):
        monkeypatch.setattr(hashing, "MAX_CACHES", 3)
        for n in range(6):
            folder = tmp_path / f"s{n}"
            folder.mkdir()
            (folder / "a.py").write_text("x")
            wait_for(lambda folder=folder: _clock(folder) > os.stat(folder / "a.py").st_ctime_ns)
            remember(folder, folder / "a.py")
        assert len(list((home / "cache" / "hashes").iterdir())) == 3


class TestHashFile:
    def test_a_file_that_grows_is_taken_as_it_was(self, tmp_path, monkeypatch):
        path = tmp_path / "log"
        path.write_bytes(b"x" * 10)
        read = os.pread

        def growing(fd, size, offset):
            with open(path, "ab") as f:
                f.write(b"more")
            return read(fd, size, offset)

        monkeypatch.setattr(hashing.os, "pread", growing)
        digest, status = hash_file(str(path))
        assert (digest, status.st_size) == (hashlib.sha256(b"x" * 10).hexdigest(), 10)

    def test_a_file_that_keeps_changing(self, tmp_path, monkeypatch):
        path = tmp_path / "log"
        path.write_bytes(b"x" * 10)
        read, count = os.pread, iter(range(1000))

        def changing(fd, size, offset):
            os.utime(path, ns=(1, next(count)))
            return read(fd, size, offset)

        monkeypatch.setattr(hashing.os, "pread", changing)
        with pytest.raises(SnapshotError, match="changes while it is read"):
            hash_file(str(path))

    def test_many_threads_at_one_cache(self, source, old_file):
        threads = [threading.Thread(target=remember, args=(source, old_file)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert HashCache(str(source)).get("a.py", os.stat(old_file)) is not None
