"""The data exam, sat by folders, S3 and HTTP."""

from __future__ import annotations

import os
import secrets
import shutil

import boto3
import pytest

from rookery.data import resolver_of
from rookery.errors import DataError, PathError
from rookery.testing.data_exam import DataExam, Place
from rookery.testing.file_server import FileServer

SECRET = "verysecretkey-8f3a9c"


class FolderPlace(Place):
    def __init__(self, record, folder):
        super().__init__(record)
        self.folder = str(folder)
        os.makedirs(self.folder)
        record.datastores.register({"name": self.name, "kind": "folder", "spec": {"folder": self.folder}}, "me")

    def put(self, path, data):
        full = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        before = os.stat(full).st_mtime_ns if os.path.exists(full) else 0
        with open(full, "wb") as f:
            f.write(data)
        if os.stat(full).st_mtime_ns == before:  # within one tick of the file system's clock
            os.utime(full, ns=(before + 1_000_000, before + 1_000_000))

    def put_folder(self, path):
        os.makedirs(os.path.join(self.folder, path))

    def put_large(self, path):
        self.put(path, b"")
        with open(os.path.join(self.folder, path), "r+b") as f:
            f.truncate(self.large_bytes - 3)
            f.seek(0, os.SEEK_END)
            f.write(b"end")

    def go_away(self):
        shutil.rmtree(self.folder)


class HttpPlace(FolderPlace):
    writes = False

    def __init__(self, record, folder):
        Place.__init__(self, record)
        self.folder = str(folder)
        os.makedirs(self.folder)
        self.server = FileServer(self.folder)
        body = {"name": self.name, "kind": "http", "spec": {"url": self.server.url + "/"}}
        record.datastores.register({**body, "credentials": {"headers": {"X-Key": SECRET}}}, "me")

    def put(self, path, data):
        super().put(path, data)
        # Last-Modified has seconds: two writes of one size within a second look the same to everybody.
        full = os.path.join(self.folder, path)
        moment = int(os.stat(full).st_mtime) + len(data) % 1000
        os.utime(full, (moment, moment))

    def go_away(self):
        self.server.stop()


class S3Place(Place):
    large_bytes = 24 * 1024**2  # moto keeps it in memory

    def __init__(self, record, address):
        super().__init__(record)
        self.address, self.prefix = address, secrets.token_hex(4)
        self.client = boto3.client("s3", endpoint_url=address)
        spec = {"bucket": "rookery-test", "prefix": self.prefix, "endpoint": address, "region": "us-east-1"}
        credentials = {"key": "testing-key", "secret": SECRET}
        body = {"name": self.name, "kind": "s3", "spec": spec, "credentials": credentials}
        record.datastores.register(body, "me")

    def put(self, path, data):
        self.client.put_object(Bucket="rookery-test", Key=f"{self.prefix}/{path}", Body=data)

    def put_folder(self, path):
        self.put(path + "/", b"")

    def put_large(self, path):
        self.put(path, b"\0" * (self.large_bytes - 3) + b"end")

    def go_away(self):
        spec = {
            "bucket": "rookery-test",
            "prefix": self.prefix,
            "endpoint": "http://127.0.0.1:9",
            "region": "us-east-1",
        }
        body = {"name": self.name, "kind": "s3", "spec": spec, "credentials": {"key": "k", "secret": SECRET}}
        self.record.datastores.register({**body, "overwrite": True}, "me")


class TestFolder(DataExam):
    @pytest.fixture
    def place(self, record, tmp_path):
        return FolderPlace(record, tmp_path / "the data's folder")

    @pytest.mark.slow
    def test_a_large_file(self, place):
        super().test_a_large_file(place)

    def test_a_link_to_nothing_is_an_error(self, place):
        place.put("k/x", b"1")
        os.symlink("/not/there", os.path.join(place.folder, "k", "broken"))
        with pytest.raises(DataError, match=r"broken.*link to '/not/there'"):
            place.resolve("k")

    def test_links_inside_are_followed_and_links_out_are_refused(self, place, tmp_path):
        place.put("k/x", b"1")
        os.symlink("x", os.path.join(place.folder, "k", "same"))
        os.symlink("k", os.path.join(place.folder, "link"))
        assert place.read(place.resolve("k")) == b"11"
        assert place.read(place.resolve("link")) == b"11"
        (tmp_path / "secret").write_text("s")
        os.symlink(str(tmp_path / "secret"), os.path.join(place.folder, "k", "out"))
        with pytest.raises(PathError, match="leads out"):
            place.resolve("k")
        with pytest.raises(PathError, match="leads out"):
            place.resolve("k/out")

    def test_a_link_in_a_circle(self, place):
        place.put("k/x", b"1")
        os.symlink("..", os.path.join(place.folder, "k", "up"))
        with pytest.raises(DataError, match="lies in itself"):
            place.resolve("k")

    def test_a_name_that_is_no_text(self, place):
        place.put("k/x", b"1")
        with open(os.fsencode(place.folder) + b"/k/\xff\xfe", "wb"):
            pass
        with pytest.raises(DataError, match="UTF-8"):
            place.resolve("k")

    def test_a_pipe_is_no_data(self, place):
        place.put("k/x", b"1")
        os.mkfifo(os.path.join(place.folder, "k", "pipe"))
        with pytest.raises(DataError, match="neither file nor folder"):
            place.resolve("k")

    def test_a_file_that_is_rewritten_while_it_is_read(self, place):
        place.put("k/x", b"a" * 1_000_000)
        manifest = place.resolve("k")
        from rookery.data import read_entries

        pieces = read_entries(place.record, manifest, 0, 1)
        assert next(pieces)[:1] == b"a"
        with open(os.path.join(place.folder, "k/x"), "r+b") as f:
            f.write(b"b" * 1_000_000)
        os.utime(os.path.join(place.folder, "k/x"))
        with pytest.raises(DataError, match="changed"):
            list(pieces)

    @pytest.mark.slow
    def test_a_hundred_thousand_files(self, place):
        count = 100_000
        for folder in range(100):
            here = os.path.join(place.folder, "many", str(folder))
            os.makedirs(here)
            for i in range(count // 100):
                fd = os.open(f"{here}/{i}", os.O_WRONLY | os.O_CREAT)
                os.write(fd, b"%d" % i)
                os.close(fd)
        manifest = place.resolve("many")
        assert manifest.files == count
        assert manifest.hashed
        assert place.read(manifest, 50_000, 3) == b"".join(
            e.path.rpartition("/")[2].encode() for e in manifest.entries[50_000:50_003]
        )
        shutil.rmtree(os.path.join(place.folder, "many"))


class TestHttp(DataExam):
    @pytest.fixture
    def place(self, record, tmp_path):
        place = HttpPlace(record, tmp_path / "the data's folder")
        yield place
        place.server.stop()

    @pytest.mark.slow  # it is tried again before it is given up
    def test_a_store_that_goes_away(self, place):
        super().test_a_store_that_goes_away(place)

    def test_a_connection_that_breaks_is_taken_up_again(self, place):
        place.put("b/x", bytes(range(256)) * 4000)
        manifest = place.resolve("b")
        place.server.cut_next(2, after=300_000)
        assert place.read(manifest) == bytes(range(256)) * 4000
        place.server.has_ranges = False
        place.server.cut_next(2, after=300_000)
        assert place.read(manifest) == bytes(range(256)) * 4000

    def test_one_that_breaks_for_ever_is_an_error(self, place):
        place.put("b/x", b"1" * 100_000)
        manifest = place.resolve("b")
        place.server.has_ranges = False
        place.server.cut_next(1000, after=10)
        with pytest.raises(DataError, match="breaks off"):
            place.read(manifest)

    def test_credentials_are_sent(self, place):
        place.put("b/x", b"1")
        place.server.needs = {"X-Key": SECRET}
        assert place.read(place.resolve("b")) == b"1"

    def test_refused_says_so_without_the_credential(self, place):
        place.put("b/x", b"1")
        place.server.needs = {"X-Key": "another"}
        with pytest.raises(DataError, match="401") as caught:
            place.resolve("b")
        assert SECRET not in str(caught.value)

    def test_links_to_elsewhere_are_not_followed(self, place):
        place.put("i/index.html", b'<a href="http://127.0.0.1:1/x">x</a><a href="../../up">u</a><a href="in.txt">i</a>')
        place.put("i/in.txt", b"in")
        assert [e.path for e in place.resolve("i/").entries] == ["in.txt"]


@pytest.mark.slow
class TestS3(DataExam):
    @pytest.fixture
    def place(self, record, s3):
        return S3Place(record, s3)

    def test_credentials_are_in_clear_nowhere(self, place):
        place.put("s/x", b"1")
        place.resolve("s")
        place.record.datasets.save({"kind": "file", "sources": [{"datastore": "exam", "path": "s"}]}, "me")
        told = [place.record.datastores.get("exam"), place.record.datastores.list()]
        assert SECRET not in str(told)
        assert told[0]["has_credentials"]
        place.go_away()
        with pytest.raises(DataError) as caught:
            place.resolve("s")
        assert SECRET not in str(caught.value)
        for name in os.listdir(place.record.paths.root):
            path = os.path.join(place.record.paths.root, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    assert SECRET.encode() not in f.read(), name

    def test_keys_that_are_no_paths_are_refused(self, place):
        place.put("t/a//b", b"1")
        with pytest.raises((DataError, PathError)):
            place.resolve("t")

    def test_a_wrong_bucket_is_named(self, place):
        spec = {"bucket": "there-is-none", "endpoint": place.address, "region": "us-east-1"}
        body = {"name": "wrong", "kind": "s3", "spec": spec, "credentials": {"key": "k", "secret": SECRET}}
        place.record.datastores.register(body, "me")
        with pytest.raises(DataError, match="wrong"):
            resolver_of(place.record).store("wrong").check()
