"""The exam that every kind of datastore sits: data goes in, a manifest and the same bytes come out, or a clear error.

A test module gives a fixture `place` (a `Place`) and a class that inherits `DataExam`.
"""

from __future__ import annotations

from typing import Any

import pytest

from rookery.data import read_entries, read_entry, resolver_of
from rookery.data.packs import PackWriter
from rookery.errors import DataError, PathError, RookeryError, UserError
from rookery.record import Record
from rookery.spec.data_definition import check_definition
from rookery.spec.manifest import Manifest

__all__ = ["DataExam", "Place"]

ODD_NAMES = (
    "a b.txt",
    "it's.txt",
    'say "x".txt',
    "ünï/日本語/файл.txt",
    "100%/a#b&c=d?.txt",
    "a+b~!@.txt",
    "-dash",
    "[1].txt",
)


class Place:
    """One datastore that is registered in a record, and how to put things there from outside.

    Args:
        name: of the datastore.
        large_bytes: how large its large file is; a folder's and a web server's are sparse.
        num_many: how many files are many to it.
    """

    name = "exam"
    writes = True
    has_folders = True
    large_bytes = 5 * 1024**3 // 2
    num_many = 300

    def __init__(self, record: Record) -> None:
        self.record = record

    def put(self, path: str, data: bytes) -> None:
        """Behind the keeper's back, in the place of what was there."""
        raise NotImplementedError

    def put_folder(self, path: str) -> None:
        raise NotImplementedError

    def put_large(self, path: str) -> None:
        """`large_bytes` zeros with b'end' at their end."""
        raise NotImplementedError

    def go_away(self) -> None:
        """From now on it cannot be reached."""
        raise NotImplementedError

    def resolve(self, *paths: str, **more: Any) -> Manifest:
        sources = [{"datastore": self.name, "path": path} for path in paths or ("",)]
        definition = check_definition({"kind": "file", "sources": sources, **more})
        return resolver_of(self.record).resolve(definition)

    def read(self, manifest: Manifest, first: int = 0, count: int = 1_000_000) -> bytes:
        return b"".join(read_entries(self.record, manifest, first, count))


class DataExam:
    def test_what_goes_in_comes_out_under_its_name(self, place: Place) -> None:
        contents = {f"top/{name}": f"content of {name}".encode() * 7 for name in ODD_NAMES}
        for path, data in contents.items():
            place.put(path, data)
        manifest = place.resolve("top")
        assert {entry.path: entry.size for entry in manifest.entries} == {p[4:]: len(d) for p, d in contents.items()}
        for index, entry in enumerate(manifest.entries):
            found, file = read_entry(place.record, manifest, index)
            with file:
                assert (found, file.read()) == (entry, contents["top/" + entry.path])
        assert place.read(manifest) == b"".join(contents["top/" + entry.path] for entry in manifest.entries)
        assert manifest.files == len(contents)
        assert manifest.bytes == sum(map(len, contents.values()))

    def test_the_same_is_the_same_and_another_content_is_another(self, place: Place) -> None:
        place.put("a/x", b"one")
        place.put("a/y", b"two")
        first, again = place.resolve("a"), place.resolve("a")
        assert (first.id, first.fingerprint) == (again.id, again.fingerprint)
        place.put("a/y", b"TWO and more")
        other = place.resolve("a")
        assert other.fingerprint != first.fingerprint
        assert [e.key for e in other.entries if e.path == "x"] == [e.key for e in first.entries if e.path == "x"]

    def test_a_single_file_is_known_as_one(self, place: Place) -> None:
        place.put("f/only.csv", b"a,b\n1,2\n")
        assert place.resolve("f/only.csv").is_single
        assert not place.resolve("f").is_single
        assert [e.path for e in place.resolve("f/only.csv").entries] == ["only.csv"]

    def test_globs_and_several_sources(self, place: Place) -> None:
        for path in ("g/a/1.png", "g/a/2.txt", "g/b/c/3.png", "g/4.png", "other/5.png"):
            place.put(path, path.encode())
        names = lambda *paths: [e.path for e in place.resolve(*paths).entries]  # noqa: E731
        assert names("g/*.png") == ["4.png"]
        assert names("g/**/*.png") == ["4.png", "a/1.png", "b/c/3.png"]
        assert names("g/?/[12].*") == ["a/1.png", "a/2.txt"]
        assert names("g/a", "g/b") == ["a/1.png", "a/2.txt", "b/c/3.png"]
        assert names("g/a/1.png", "other") == ["g/a/1.png", "other/5.png"]

    def test_nothing_there_is_an_error_that_names_it(self, place: Place) -> None:
        place.put("n/x", b"1")
        for path in ("absent", "n/absent", "n/x/y", "n/*.png"):
            with pytest.raises(DataError, match=r"no file|There is no|No file|no index|cannot be"):
                place.resolve(path)

    def test_a_name_that_begins_like_another_is_not_below_it(self, place: Place) -> None:
        place.put("p/one", b"1")
        place.put("p-two/one", b"2")
        assert place.read(place.resolve("p")) == b"1"

    def test_empty_files_and_empty_folders(self, place: Place) -> None:
        place.put("e/nothing", b"")
        place.put("e/zzz", b"z")
        if place.has_folders:
            place.put_folder("e/empty")
        manifest = place.resolve("e")
        expected = ["empty/"] if place.has_folders else []
        assert [entry.path for entry in manifest.entries] == [*expected, "nothing", "zzz"]
        assert (manifest.files, manifest.bytes, place.read(manifest)) == (2, 1, b"z")

    def test_paths_that_lead_out_are_refused(self, place: Place) -> None:
        place.put("h/x", b"1")
        for path in ("../x", "h/../../x", "h/..", "/../etc/passwd"):
            with pytest.raises(PathError):
                place.resolve(path)

    def test_a_large_file(self, place: Place) -> None:
        place.put_large("l/large.bin")
        manifest = place.resolve("l")
        assert manifest.bytes == place.large_bytes
        entry, file = read_entry(place.record, manifest, 0)
        with file:
            file.seek(entry.size - 1000)
            tail = b""
            while piece := file.read(1000):
                tail += piece
        assert tail == b"\0" * 997 + b"end"

    def test_a_file_that_changed_since_it_was_listed_is_not_given(self, place: Place) -> None:
        place.put("c/x", b"before")
        place.put("c/y", b"kept")
        manifest = place.resolve("c")
        place.put("c/x", b"after, and longer")
        with pytest.raises(DataError, match="changed"):
            place.read(manifest)
        assert place.read(manifest, 1, 1) == b"kept"

    def test_a_file_that_goes_is_not_given(self, place: Place) -> None:
        place.put("d/x", b"before")
        manifest = place.resolve("d")
        place.put("d/x", b"")
        with pytest.raises(DataError):
            place.read(manifest)

    def test_a_store_that_goes_away(self, place: Place) -> None:
        place.put("w/x", b"1" * 100_000)
        place.put("w/y", b"2")
        manifest = place.resolve("w")
        place.go_away()
        with pytest.raises(DataError):
            place.read(manifest)
        with pytest.raises(DataError):
            place.resolve("w")

    def test_many_files(self, place: Place) -> None:
        count = place.num_many
        for i in range(count):
            place.put(f"m/{i % 7}/{i}.bin", b"%d" % i)
        manifest = place.resolve("m")
        assert manifest.files == count
        assert place.read(manifest) == b"".join(e.path.rpartition("/")[2][:-4].encode() for e in manifest.entries)

    def test_written_files_are_whole_or_not_there(self, place: Place) -> None:
        store = resolver_of(place.record).store(place.name)
        if not place.writes:
            with pytest.raises(DataError, match="only read"):
                PackWriter(store).feed(b'{"path":"x","size":1}\nx')
            return
        pack = PackWriter(store, "in/there")
        pack.feed(
            b'{"path":"a b/x.txt","size":3}\nabc{"path":"empty/","size":0}\n{"path":"half.txt","size":100}\nonly thi'
        )
        pack.close()
        with pytest.raises(UserError, match="middle"):
            PackWriter(store, "in/there").finish(b'{"path":"half.txt","size":100}\nonly thi')
        manifest = place.resolve("in/there")
        assert [e.path for e in manifest.entries if not e.is_folder] == ["a b/x.txt"]
        kept = PackWriter(store, "in/there").finish(b'{"path":"a b/x.txt","size":3}\nXYZ')
        assert kept == {"files": 0, "skipped": 1, "bytes": 0}
        PackWriter(store, "in/there", overwrite=True).finish(b'{"path":"a b/x.txt","size":3}\nXYZ')
        assert place.read(place.resolve("in/there")) == b"XYZ"
        for path in ("../x", "/x", "a/../../x"):
            with pytest.raises(PathError):
                PackWriter(store, "in").feed(b'{"path":"%s","size":0}\n' % path.encode())

    def test_an_error_is_one_of_ours_and_says_where(self, place: Place) -> None:
        with pytest.raises(RookeryError, match=place.name):
            place.resolve("not here")
