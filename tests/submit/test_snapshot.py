from __future__ import annotations

import hashlib
import json
import os
import stat

import pytest

from rookery.errors import SnapshotError
from rookery.submit import take_snapshot, upload
from rookery.submit.size import largest_paths
from tests.client.conftest import wait_for


def stored(keeper, snapshot):
    with open(os.path.join(keeper.store, "snapshots", snapshot.id)) as f:
        return {e["path"]: e for e in json.load(f)}


def content(keeper, entry):
    with open(keeper.content(entry["sha256"]), "rb") as f:
        return f.read()


def settle(folder):
    """Wait until the file system's clock has moved on, so that what is there can be remembered."""
    latest = max(e.stat().st_ctime_ns for e in os.scandir(folder))
    probe = folder.parent / "probe"

    def moved_on():
        probe.write_text("")
        return os.stat(probe).st_mtime_ns > latest

    wait_for(moved_on)


class TestTakeSnapshot:
    def test_stores_the_folder(self, client, keeper, source):
        (source / "train.py").write_text("print(1)")
        (source / "run.sh").write_text("echo")
        os.chmod(source / "run.sh", 0o700)
        (source / "empty").write_text("")
        (source / "link").symlink_to("train.py")
        snapshot = take_snapshot(client, str(source))
        entries = stored(keeper, snapshot)
        assert list(entries) == ["empty", "link", "run.sh", "train.py"]
        assert content(keeper, entries["train.py"]) == b"print(1)"
        assert (entries["run.sh"]["mode"], entries["train.py"]["mode"]) == (0o755, 0o644)
        assert entries["link"]["link"] == "train.py"
        assert (snapshot.files, snapshot.sent_files, snapshot.sent_bytes) == (4, 3, 12)

    def test_an_unchanged_folder_is_one_question(self, client, keeper, source):
        (source / "train.py").write_text("print(1)")
        first = take_snapshot(client, str(source))
        keeper.requests.clear()
        again = take_snapshot(client, str(source))
        assert (again.id, again.sent_files) == (first.id, 0)
        assert keeper.requests == [("HEAD", "/snapshots/" + first.id)]

    def test_only_the_changed_file_travels(self, client, keeper, source):
        for n in range(20):
            (source / f"f{n}").write_text(f"content {n}")
        settle(source)
        take_snapshot(client, str(source))
        (source / "f7").write_text("changed")
        again = take_snapshot(client, str(source))
        assert (again.sent_files, again.sent_bytes) == (1, 7)
        assert content(keeper, stored(keeper, again)["f7"]) == b"changed"

    def test_content_that_the_keeper_lost_is_sent_again(self, client, keeper, source):
        (source / "a").write_text("a")
        (source / "b").write_text("b")
        settle(source)
        first = take_snapshot(client, str(source))
        os.unlink(keeper.content(hashlib.sha256(b"a").hexdigest()))
        os.unlink(os.path.join(keeper.store, "snapshots", first.id))
        again = take_snapshot(client, str(source))
        assert (again.id, again.sent_files) == (first.id, 1)

    def test_small_files_are_packed_and_large_ones_not(self, client, keeper, source, monkeypatch):
        monkeypatch.setattr(upload, "SMALL_BYTES", 1000)
        monkeypatch.setattr(upload, "PACK_BYTES", 2000)
        for n in range(10):
            (source / f"small{n}").write_bytes(os.urandom(900))
        (source / "large").write_bytes(os.urandom(5000))
        told = []
        snapshot = take_snapshot(client, str(source), progress=lambda done, total: told.append((done, total)))
        assert sum(r == ("POST", "/content/pack") for r in keeper.requests) == 4
        assert sum(method == "PUT" for method, _ in keeper.requests) == 1
        assert snapshot.sent_bytes == 14000
        assert told[-1] == (14000, 14000)
        assert told == sorted(told)

    def test_the_same_content_travels_once(self, client, keeper, source):
        for n in range(5):
            (source / f"f{n}").write_text("same")
        assert take_snapshot(client, str(source)).sent_files == 1

    def test_the_id_depends_on_content_and_name_only(self, client, keeper, source, tmp_path):
        (source / "a").write_text("x")
        other = tmp_path / "other"
        other.mkdir()
        (other / "a").write_text("x")
        os.chmod(other / "a", stat.S_IRUSR)
        assert take_snapshot(client, str(other)).id == take_snapshot(client, str(source)).id

    def test_one_file(self, client, keeper, source):
        (source / "train.py").write_text("print(1)")
        (source / "other.py").write_text("print(2)")
        assert list(stored(keeper, take_snapshot(client, str(source / "train.py")))) == ["train.py"]

    def test_empty(self, client, keeper, source):
        assert take_snapshot(client, str(source)).files == 0

    def test_warnings_are_told_and_kept(self, client, keeper, source):
        (source / "gone").symlink_to("nowhere")
        told = []
        snapshot = take_snapshot(client, str(source), on_warning=told.append)
        assert list(snapshot.warnings) == told
        assert len(told) == 1

    def test_no_folder(self, client, source):
        with pytest.raises(SnapshotError, match="does not exist"):
            take_snapshot(client, str(source / "none"))


class TestFilesThatChange:
    @pytest.mark.parametrize("size", [100, 2_000_000])
    @pytest.mark.parametrize("change", ["grow", "shrink", "rewrite"])
    def test_between_hashing_and_sending(self, client, keeper, source, monkeypatch, size, change):
        path, twin = source / "data", source / "twin"
        path.write_bytes(b"x" * size)
        twin.write_bytes(b"x" * size)
        missing = upload.Sender._missing

        def change_then_ask(self, hashes):
            if path.read_bytes()[:1] == b"x" and os.path.getsize(path) == size:
                new = {"grow": b"x" * (size + 50), "shrink": b"x" * (size // 2), "rewrite": b"y" * size}[change]
                path.write_bytes(new)
            return missing(self, hashes)

        monkeypatch.setattr(upload.Sender, "_missing", change_then_ask)
        entries = stored(keeper, take_snapshot(client, str(source)))
        expected = b"x" * size if change == "grow" else path.read_bytes()
        assert content(keeper, entries["data"]) == expected
        assert content(keeper, entries["twin"]) == twin.read_bytes()
        assert entries["data"]["size"] == len(expected)

    def test_gone_before_it_is_sent(self, client, keeper, source, monkeypatch):
        (source / "data").write_text("x")
        missing = upload.Sender._missing

        def remove_then_ask(self, hashes):
            (source / "data").unlink()
            return missing(self, hashes)

        monkeypatch.setattr(upload.Sender, "_missing", remove_then_ask)
        with pytest.raises(SnapshotError, match="data cannot be read any more"):
            take_snapshot(client, str(source))


class TestSizeWarning:
    def test_names_the_five_largest(self, client, keeper, source, monkeypatch):
        monkeypatch.setenv("ROOKERY_SNAPSHOT_WARN_BYTES", "1000")
        (source / "data" / "train").mkdir(parents=True)
        for n in range(4):
            (source / "data" / "train" / f"p{n}.png").write_bytes(b"x" * 1000)
        for n in range(1, 8):
            (source / f"f{n}").write_bytes(b"x" * n)
        (warning,) = take_snapshot(client, str(source)).warnings
        assert "data/train/" in warning
        assert all(f"f{n}\n" in warning for n in (4, 5, 6, 7))
        assert "f3" not in warning
        assert ".amlignore" in warning
        assert "snapshot_warn_bytes" in warning

    def test_largest_paths(self):
        sizes = [("a/b/c", 10), ("a/b/d", 10), ("a/x", 1), ("e", 5), ("z/only", 7)]
        assert largest_paths(sizes) == [("a/b/", 20), ("z/only", 7), ("e", 5)]
