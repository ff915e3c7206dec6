"""The same promises with the real keeper."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import zipfile

import pytest

from rookery.client import Client, create_workspace, find_keeper, stop_keeper
from rookery.client import client as client_module
from rookery.submit import take_snapshot

from .conftest import kill_keeper, wait_for

RACER = """
import sys
from rookery.client import Client
sys.stdin.readline()
print(Client.for_workspace(sys.argv[1]).request("GET", "/keeper")["pid"])
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ROOKERY_KEEPER_START_TIMEOUT_S", "120")  # twenty processes may start beside it
    folder = tmp_path / "it's a workspace"
    create_workspace(str(folder), "birds")
    yield os.path.realpath(folder)
    client_module._close_all()
    client_module._clients.clear()


@pytest.fixture
def client(root):
    """A client, and an interactive run of this process to have events from."""
    with open("/proc/self/stat") as f:
        ticks = int(f.read().rsplit(")", 1)[1].split()[19])
    client = Client.for_workspace(root)
    watched = {"pid": os.getpid(), "start_ticks": ticks, "host": os.uname().nodename}
    client.request(
        "POST",
        "/runs",
        body={"run_id": "run-0", "experiment": "race", "kind": "interactive", "watched": watched},
    )
    yield client
    client.request("POST", "/runs/run-0/cancel")
    wait_for(lambda: client.request("GET", "/runs/run-0")["status"] in ("Completed", "Failed", "Canceled"))


class TestRealKeeper:
    @pytest.mark.slow
    def test_twenty_processes_race_to_start_it(self, root):
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", RACER, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(20)
        ]
        try:
            for racer in racers:
                racer.stdin.write("go\n")
                racer.stdin.flush()
            answers = [racer.communicate(timeout=120)[0].strip() for racer in racers]
        finally:
            for racer in racers:
                racer.kill()
                racer.wait()
        assert answers == [str(find_keeper(root).pid)] * 20

    @pytest.mark.slow
    def test_killed_again_and_again(self, root):
        client = Client.for_workspace(root)
        for n in range(2):
            pid = client.request("GET", "/keeper")["pid"]
            client.request("PUT", f"/experiments/e{n}")
            kill_keeper(root)
            assert client.request("GET", f"/experiments/e{n}")["name"] == f"e{n}"
            assert find_keeper(root).pid != pid

    @pytest.mark.slow
    def test_killed_under_many_threads(self, root):
        client = Client.for_workspace(root)
        client.request("PUT", "/experiments/e")
        stop, errors, answers = threading.Event(), [], []

        def ask():
            try:
                while not stop.is_set():
                    answers.append(client.request("GET", "/experiments/e")["name"])
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            seen = len(answers)
            wait_for(lambda seen=seen: len(answers) > seen + 20 or errors)
            kill_keeper(root)
        stop.set()
        for thread in threads:
            thread.join(60)
        assert errors == []
        assert set(answers) == {"e"}

    def test_stop_and_go_on(self, root):
        client = Client.for_workspace(root)
        pid = client.request("GET", "/keeper")["pid"]
        assert stop_keeper(root) == pid
        assert client.request("GET", "/keeper")["pid"] != pid


@pytest.mark.slow
class TestRealStream:
    def test_goes_on_across_kills(self, root, client):
        with client.stream("/events", after=0) as stream:
            seen = []

            def read():
                for event in stream:
                    seen.append(event)

            reader = threading.Thread(target=read)
            reader.start()
            try:
                for n in range(1, 3):
                    client.request("PATCH", "/runs/run-0", body={"tags": {f"t{n}": "yes"}})
                    wait_for(lambda n=n: any(f"t{n}" in (e.data.get("tags") or {}) for e in seen))
                    kill_keeper(root)
            finally:
                stream.close()
                reader.join(60)
        assert not reader.is_alive()
        seqs = [e.seq for e in seen]
        assert seqs == sorted(set(seqs))


class TestRealSnapshot:
    def test_there_and_back(self, root, tmp_path):
        source = tmp_path / "source"
        (source / "pkg").mkdir(parents=True)
        (source / "train.py").write_text("print('hi')")
        (source / "pkg" / "Ünï cödé *.txt").write_text("x")
        (source / "pkg" / "link").symlink_to("../train.py")
        (source / "bad\nname\\").write_text("left out")
        (source / "large.bin").write_bytes(os.urandom(3_000_000))
        client = Client.for_workspace(root)
        snapshot = take_snapshot(client, str(source))
        assert len(snapshot.warnings) == 1
        assert client.exists("/snapshots/" + snapshot.id)
        assert take_snapshot(client, str(source)).sent_files == 0
        archive = io.BytesIO()
        client.download(f"/snapshots/{snapshot.id}/zip", archive)
        with zipfile.ZipFile(archive) as z:
            assert sorted(z.namelist()) == ["large.bin", "pkg/link", "pkg/Ünï cödé *.txt", "train.py"]
            assert z.read("large.bin") == (source / "large.bin").read_bytes()
