from __future__ import annotations

import hashlib
import io
import os

import pytest

from rookery.errors import (
    ArtifactNotFoundError,
    ConflictError,
    ModelError,
    ModelNotFoundError,
    NotFoundError,
    PathError,
    UserError,
)
from rookery.record.content import Content


def sha(data):
    return hashlib.sha256(data).hexdigest()


class TestContent:
    def test_put_open_size(self, record, paths):
        data = os.urandom(3_000_000)
        assert record.content.put(io.BytesIO(data)) == (sha(data), len(data))
        assert record.content.put(io.BytesIO(data)) == (sha(data), len(data))
        assert record.content.size(sha(data)) == len(data)
        with record.content.open(sha(data)) as f:
            assert f.read() == data
        assert os.path.getsize(record.content.local_path(sha(data))) == len(data)
        assert os.listdir(os.path.join(paths.content, "incoming")) == []

    def test_a_wrong_hash_stores_nothing(self, record, paths):
        with pytest.raises(ConflictError, match="changed on the way"):
            record.content.put(io.BytesIO(b"abc"), sha(b"xyz"))
        assert not record.content.exists(sha(b"abc"))
        assert os.listdir(os.path.join(paths.content, "incoming")) == []

    def test_missing(self, record):
        record.content.put(io.BytesIO(b"abc"))
        hashes = [sha(str(n).encode()) for n in range(1200)]
        assert record.content.missing([*hashes, sha(b"abc"), hashes[0]]) == hashes
        with pytest.raises(UserError, match="SHA-256"):
            record.content.missing(["../etc/passwd"])
        with pytest.raises(ArtifactNotFoundError):
            record.content.open(sha(b"nothing"))

    def test_an_object_store_by_url(self, record, tmp_path):
        store = Content(record.database, str(tmp_path / "incoming"), "memory://rookery-test/blobs")
        assert store.put(io.BytesIO(b"remote")) == (sha(b"remote"), 6)
        assert store.local_path(sha(b"remote")) is None
        with store.open(sha(b"remote")) as f:
            assert f.read() == b"remote"
        import fsspec

        assert fsspec.filesystem("memory").exists(f"/rookery-test/blobs/{sha(b'remote')[:2]}/{sha(b'remote')}")


class TestArtifacts:
    def test_link_replace_list(self, record, make_run):
        make_run()
        one, _ = record.content.put(io.BytesIO(b"one"))
        two, _ = record.content.put(io.BytesIO(b"second"))
        record.artifacts.link("run-1", "./outputs//model.pt", one)
        assert record.artifacts.link("run-1", "outputs/model.pt", two)["size"] == 6
        record.artifacts.link("run-1", "Outputs/x", one)
        assert [a["name"] for a in record.artifacts.list("run-1")] == ["Outputs/x", "outputs/model.pt"]
        assert [a["sha256"] for a in record.artifacts.list("run-1", "outputs/")] == [two]
        with pytest.raises(ArtifactNotFoundError, match=r"outputs/model\.pt"):
            record.artifacts.get("run-1", "nope")
        with pytest.raises(ArtifactNotFoundError, match="not stored"):
            record.artifacts.link("run-1", "x", sha(b"never"))

    def test_all_of_a_list_or_none(self, record, make_run):
        make_run()
        one, _ = record.content.put(io.BytesIO(b"one"))
        assert [a["size"] for a in record.artifacts.link_many("run-1", [("a", one), ("b/c", one)])] == [3, 3]
        with pytest.raises(ArtifactNotFoundError):
            record.artifacts.link_many("run-1", [("d", one), ("e", sha(b"never"))])
        assert [a["name"] for a in record.artifacts.list("run-1")] == ["a", "b/c"]


class TestSnapshots:
    def entries(self, record, *paths):
        stored, size = record.content.put(io.BytesIO(b"print()"))
        return [{"path": p, "sha256": stored, "size": size, "mode": 0o644, "link": None} for p in paths]

    def link(self, path, target):
        return {"path": path, "sha256": "", "size": 0, "mode": 0o777, "link": target}

    def test_create_twice(self, record):
        entries = [*self.entries(record, "b/c.py", "a.py"), self.link("b/l", "../a.py")]
        made = record.snapshots.create(entries)
        assert record.snapshots.create(list(reversed(entries))) == made
        assert made["files"] == 3
        assert [e["path"] for e in record.snapshots.entries(made["id"])] == ["a.py", "b/c.py", "b/l"]
        assert record.snapshots.exists(made["id"])
        with pytest.raises(NotFoundError):
            record.snapshots.entries("0" * 64)

    def test_missing_content_is_listed(self, record):
        absent = {"path": "x", "sha256": sha(b"never"), "size": 1, "mode": 0o644, "link": None}
        with pytest.raises(ConflictError) as error:
            record.snapshots.create([*self.entries(record, "a"), absent])
        assert error.value.details == {"missing": [sha(b"never")]}

    @pytest.mark.parametrize("path", ["../x", "/x", "a/../x", "a//b", "./a", "a\x00", "", "a\\b", "x" * 300])
    def test_bad_paths(self, record, path):
        with pytest.raises(PathError):
            record.snapshots.create(self.entries(record, path))

    @pytest.mark.parametrize("target", ["/etc/passwd", "..", "../../x", "sub/../../x", "in/../x", "", "a\x00b"])
    def test_links_that_leave(self, record, target):
        with pytest.raises(PathError):
            record.snapshots.create([self.link("l", target)])

    def test_nothing_lies_below_a_link_or_file_and_nothing_is_there_twice(self, record):
        with pytest.raises(PathError, match="lies below"):
            record.snapshots.create([self.link("d", "sub"), *self.entries(record, "d/x")])
        with pytest.raises(PathError, match="lies below"):
            record.snapshots.create(self.entries(record, "f", "f-x", "f/y/z"))
        with pytest.raises(PathError, match="twice"):
            record.snapshots.create(self.entries(record, "a", "a"))


class TestModels:
    def test_what_changes_is_told(self, record):
        sha256 = record.content.put(io.BytesIO(b"m"))[0]
        record.models.register({"name": "birds", "entries": [{"path": "m.pt", "sha256": sha256, "size": 1}]}, "owner")
        record.models.change("birds", 1, {"tags": {"a": "b"}})
        record.model_names.change("birds", description="of the yard")
        record.model_names.set_alias("birds", "best", 1)
        record.model_names.rename("birds", "rooks")
        record.models.delete("rooks", 1)
        record.model_names.delete("rooks")
        told = [e["data"] for e in record.events.after(0)[0] if e["kind"] == "model"]
        assert [(d["name"], d["version"], d.get("change")) for d in told] == [
            ("birds", 1, None),
            ("birds", 1, "changed"),
            ("birds", None, "changed"),
            ("birds", 1, "changed"),
            ("birds", None, "deleted"),
            ("rooks", None, "changed"),
            ("rooks", 1, "deleted"),
            ("rooks", None, "deleted"),
        ]

    def test_from_a_run_is_linked_not_copied(self, record, make_run, paths):
        make_run(snapshot_id="5" * 64)
        for name, data in (("outputs/m/a.pt", b"aa"), ("outputs/m/b/c.txt", b"c"), ("outputs/one.pt", b"1")):
            record.artifacts.link("run-1", name, record.content.put(io.BytesIO(data))[0])
        before = sum(len(files) for _, _, files in os.walk(paths.content))
        one = record.models.register(
            {"name": "birds", "run_id": "run-1", "path": "outputs/one.pt", "tags": {"a": 1}}, "owner"
        )
        folder = record.models.register(
            {"name": "birds", "run_id": "run-1", "path": "./outputs/m/", "framework": "PyTorch"}, "owner"
        )
        assert sum(len(files) for _, _, files in os.walk(paths.content)) == before
        assert (one["version"], one["is_folder"], [f["path"] for f in one["files"]]) == (1, False, ["one.pt"])
        assert (folder["version"], folder["is_folder"], [f["path"] for f in folder["files"]]) == (
            2,
            True,
            ["m/a.pt", "m/b/c.txt"],
        )
        assert (folder["experiment"], folder["snapshot_id"], folder["id"]) == ("birds", "5" * 64, "birds:2")
        assert record.models.get("birds")["version"] == 2
        assert [m["version"] for m in record.models.list(latest=True)] == [2]
        assert [m["version"] for m in record.models.list(tags=("a=1",))] == [1]
        assert [m["version"] for m in record.models.list(framework="PyTorch", run_id="run-1")] == [2]
        assert record.models.file("birds", 2, "m/b/c.txt")["size"] == 1
        with pytest.raises(ModelNotFoundError, match=r"outputs/one\.pt"):
            record.models.register({"name": "x", "run_id": "run-1", "path": "nope"}, "owner")

    def test_properties_are_written_once(self, record):
        stored, _ = record.content.put(io.BytesIO(b"m"))
        entries = [{"path": "m.pt", "sha256": stored, "size": 1}]
        record.models.register({"name": "birds", "entries": entries, "properties": {"a": "1"}}, "owner")
        changed = record.models.change("birds", 1, {"properties": {"a": "1", "b": "2"}})
        assert changed["properties"] == {"a": "1", "b": "2"}
        with pytest.raises(ConflictError, match="written once"):
            record.models.change("birds", 1, {"properties": {"a": "3"}})
        with pytest.raises(ModelNotFoundError, match="Did you mean 'birds'"):
            record.models.get("bird")

    def test_versions_are_not_reused(self, record, make_run):
        stored, _ = record.content.put(io.BytesIO(b"m"))
        body = {"name": "m", "entries": [{"path": "m.pt", "sha256": stored, "size": 1}]}
        record.models.register(body, "owner")
        record.models.register(body, "owner")
        record.models.delete("m", 2)
        assert record.models.register(body, "owner")["version"] == 3
        changed = record.models.change("m", 3, {"tags": {"a": "1"}, "properties": {"p": "q"}, "description": "d"})
        assert (changed["tags"], changed["properties"], changed["description"]) == (
            {"a": "1"},
            {"p": "q"},
            "d",
        )
        assert record.models.change("m", 3, {"remove_tags": ["a"]})["tags"] == {}
        with pytest.raises(ModelNotFoundError, match="version 2"):
            record.models.get("m", 2)
        with pytest.raises(ModelError):
            record.models.register({"name": "m"}, "owner")
        with pytest.raises(ModelError):
            record.models.register({"name": "m", "entries": []}, "owner")
