from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading

import pytest

from rookery.client import Client, FilePart, ensure_keeper, find_keeper
from rookery.client.retry import may_repeat
from rookery.errors import (
    ArtifactNotFoundError,
    KeeperUnavailableError,
    NotFoundError,
    RunEnvironmentError,
    StorageError,
    UserError,
)

from .conftest import kill_keeper, starts
from .fake_keeper import FakeKeeper


@pytest.fixture
def client(root):
    return Client.for_workspace(root)


@pytest.fixture
def inside(root):
    """A fake keeper in this process, to look into."""
    keeper = FakeKeeper(root).start_thread()
    yield keeper
    keeper.stop()


class TestForWorkspace:
    def test_one_per_process(self, root, client):
        assert Client.for_workspace(root + "/.") is client

    def test_says_hello_once_per_connection(self, root, inside):
        client = Client.for_workspace(root)
        for _ in range(5):
            client.request("GET", "/keeper")
        assert inside.requests == [("GET", "/hello")] + [("GET", "/keeper")] * 5

    def test_from_many_threads(self, client):
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.extend(client.request("GET", "/keeper")["pid"] for _ in range(20)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 160
        assert len(set(answers)) == 1

    def test_after_a_fork(self, root):
        # In a process of its own: forking one that has threads, as this one does, is a warning since Python
        # 3.12.
        program = """
import os, sys
from rookery.client import Client
client = Client.for_workspace(sys.argv[1])
first = client.request("GET", "/keeper")["pid"]
child = os.fork()
if child == 0:
    ok = all(client.request("GET", "/keeper")["pid"] == first for _ in range(50))
    ok = ok and Client.for_workspace(sys.argv[1]) is not client
    os._exit(0 if ok else 1)
for _ in range(50):
    assert client.request("GET", "/keeper")["pid"] == first
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        ensure_keeper(root)
        assert subprocess.run([sys.executable, "-W", "error", "-c", program, root], timeout=60).returncode == 0


class TestLostKeeper:
    def test_the_next_request_just_works(self, root, client):
        killed = client.request("GET", "/keeper")["pid"]
        kill_keeper(root)
        assert client.request("GET", "/keeper")["pid"] != killed

    def test_a_post_that_could_not_be_sent_is_sent_once(self, root, client):
        client.request("GET", "/keeper")
        kill_keeper(root)
        client.request("POST", "/runs/r/records", body={"records": [["m"]]})
        assert FakeKeeper(root).lines("records") == ['{"records": [["m"]]}']

    def test_a_post_that_may_have_arrived_is_not_repeated(self, root, behave):
        behave(die_on=["/runs/r/records"])
        client = Client.for_workspace(root)
        with pytest.raises(KeeperUnavailableError, match="POST /runs/r/records"):
            client.request("POST", "/runs/r/records", body={"records": []})
        assert FakeKeeper(root).lines("died") == ["/runs/r/records"]

    def test_a_run_is_submitted_again(self, root, behave):
        behave(die_on=["/runs"])
        client = Client.for_workspace(root)
        behave()
        assert client.request("POST", "/runs", body={"run_id": "r1"}) == {"id": "r1"}
        assert FakeKeeper(root).lines("died") == ["/runs"]
        assert FakeKeeper(root).lines("runs") == ["r1"]

    def test_gives_up_on_one_that_always_dies(self, root, behave):
        behave(die_on=["/keeper"])
        client = Client.for_workspace(root)
        with pytest.raises(KeeperUnavailableError, match="GET /keeper"):
            client.request("GET", "/keeper")
        assert len(starts(root)) == 5

    def test_an_upload_begins_again(self, root, behave):
        data = os.urandom(3_000_000)
        sha = hashlib.sha256(data).hexdigest()
        behave(die_on=["/content/" + sha])
        client = Client.for_workspace(root)
        behave()
        file = io.BytesIO(b"not this" + data)
        file.seek(8)
        client.upload("/content/" + sha, file)
        target = io.BytesIO(b"")
        assert client.download("/content/" + sha, target) == len(data)
        assert target.getvalue() == data

    def test_starts_none_if_it_may_not(self, root):
        ensure_keeper(root)
        client = Client.for_workspace(root, start=False)
        client.request("GET", "/keeper")
        kill_keeper(root)
        with pytest.raises(KeeperUnavailableError, match="no keeper running"):
            client.request("GET", "/keeper")
        assert len(starts(root)) == 1


class TestErrors:
    def test_the_keepers_error_is_raised_by_its_code(self, client):
        with pytest.raises(ArtifactNotFoundError):
            client.download("/content/" + "0" * 64, io.BytesIO())

    def test_exists(self, client):
        assert not client.exists("/snapshots/nope")
        client.request("POST", "/snapshots", body={"entries": []})
        assert client.exists("/snapshots/" + hashlib.sha256(b"[]").hexdigest())

    def test_unknown_path(self, client):
        with pytest.raises(NotFoundError):
            client.request("GET", "/nowhere")

    def test_a_full_disk_is_not_a_lost_keeper(self, client):
        data = b"x" * 100_000
        sha = hashlib.sha256(data).hexdigest()
        client.upload("/content/" + sha, data)
        with open("/dev/full", "wb", buffering=0) as full, pytest.raises(StorageError, match="No space left"):
            client.download("/content/" + sha, full)

    def test_not_in_a_run(self):
        with pytest.raises(RunEnvironmentError, match="rookery run"):
            Client.in_run()

    def test_in_a_run(self, root, monkeypatch):
        ensure_keeper(root)
        monkeypatch.setenv("ROOKERY_AGENT_SOCKET", find_keeper(root).socket)
        with Client.in_run() as client:
            assert client.request("GET", "/keeper")["pid"] == find_keeper(root).pid

    def test_bad_url(self):
        with pytest.raises(UserError, match="http://host:port"):
            Client.for_url("birds.example:80")

    def test_nobody_at_the_url(self):
        with pytest.raises(KeeperUnavailableError, match="refused"):
            Client.for_url("http://127.0.0.1:1").request("GET", "/keeper")


class TestMayRepeat:
    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
    def test_what_says_what_is_to_be(self, method):
        assert may_repeat(method, "/runs/r", was_sent=True)

    @pytest.mark.parametrize("path", ["/runs", "/snapshots", "/content/pack", "/content/missing", "/runs/r/cancel"])
    def test_posts_known_by_their_content(self, path):
        assert may_repeat("POST", path, was_sent=True)

    @pytest.mark.parametrize("path", ["/runs/r/records", "/runs/r/status", "/models", "/compute", "/runs/runs"])
    def test_posts_that_add(self, path):
        assert not may_repeat("POST", path, was_sent=True)
        assert may_repeat("POST", path, was_sent=False)


class TestFilePart:
    def test_leaves_out_what_is_appended(self, tmp_path):
        path = tmp_path / "log"
        path.write_bytes(b"0123456789")
        with open(path, "rb") as f:
            part = FilePart(f, 10)
            with open(path, "ab") as writer:
                writer.write(b"more")
            assert part.read(4) + part.read() + part.read() == b"0123456789"
            part.seek(8)
            assert part.read(100) == b"89"

    def test_says_when_the_file_became_shorter(self, tmp_path, client):
        path = tmp_path / "log"
        path.write_bytes(b"0123")
        with open(path, "rb") as f, pytest.raises(UserError, match="shorter"):
            client.upload("/content/" + "0" * 64, FilePart(f, 10))
