"""What agents send goes on where a broken connection, or a dead keeper, has left it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading

import pytest

from rookery.agent import uploads
from rookery.agent.folders import collect_folder
from rookery.agent.keeper import Keeper
from rookery.record import Record
from rookery.spec.job import Job, KeeperAddress
from rookery.testing.cutting_proxy import CuttingProxy
from rookery.worker.http import HttpClient
from tests.server.conftest import run_spec

MB = 1024 * 1024
SIZE = 200 * MB


def sha_of(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


@pytest.fixture
def outputs(tmp_path):
    """A folder with one file of 200 MB; random at both ends and a hole between them, which costs no disk."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    with open(folder / "big model.pt", "wb") as f:
        f.write(os.urandom(3 * MB))
        f.seek(SIZE - MB)
        f.write(os.urandom(MB))
    return str(folder)


@pytest.fixture
def offsets(monkeypatch):
    """Where every part that is sent begins."""
    found = []
    send = HttpClient.send_rest

    def noted(self, path, source, offset, total):
        found.append(offset)
        return send(self, path, source, offset, total)

    monkeypatch.setattr(HttpClient, "send_rest", noted)
    return found


@contextlib.contextmanager
def agent_of(run_id, token, address, alive):
    """What an agent has to reach its keeper; its connection is this thread's."""
    keeper = Keeper(Job(run_id, 1, 0, "run", token, address), str(alive), lambda text: None)
    try:
        yield keeper
    finally:
        keeper.client().close()


class TestCut:
    def test_an_output_goes_on_after_every_cut(self, api, token, outputs, offsets, tmp_path):
        api.run()
        proxy = CuttingProxy(api.port, cuts=4, after=40 * MB)
        address = KeeperAddress(url=f"http://127.0.0.1:{proxy.port}")
        warnings = []
        try:
            with agent_of("run-1", token("run-1", "agent"), address, tmp_path) as agent:
                assert collect_folder(agent, "run-1", outputs, "outputs", warnings.append) == 1
        finally:
            proxy.close()
        assert warnings == []
        stored = api.owner.get("/runs/run-1/artifacts").json()["artifacts"]
        assert [(a["name"], a["size"]) for a in stored] == [("outputs/big model.pt", SIZE)]
        assert stored[0]["sha256"] == sha_of(os.path.join(outputs, "big model.pt"))
        assert proxy.cuts == 0
        assert len(offsets) >= 5
        assert offsets == sorted(offsets)
        assert offsets[-1] > 100 * MB
        # Beginning again each time would have sent 40 + 80 + … more; what was on its way at a cut is sent twice.
        assert proxy.sent < SIZE + 40 * MB
        assert os.listdir(api.record.content.incoming) == []

    def test_a_download_goes_on_too(self, api, token, outputs, tmp_path, monkeypatch):
        api.run()
        with open(os.path.join(outputs, "big model.pt"), "rb") as f:
            sha256, _ = api.record.content.put(f)
        proxy = CuttingProxy(api.port, cuts=2, after=60 * MB)
        received = []
        download = HttpClient.download_rest

        def noted(client, path, target, start, query=None):
            received.append(start)
            return download(client, path, target, start, query)

        monkeypatch.setattr(HttpClient, "download_rest", noted)
        address = KeeperAddress(url=f"http://127.0.0.1:{proxy.port}")
        try:
            with agent_of("run-1", token("run-1", "agent"), address, tmp_path) as agent:
                agent.download(f"/content/{sha256}", str(tmp_path / "down"))
        finally:
            proxy.close()
        assert sha_of(tmp_path / "down") == sha256
        assert (received[0], len(received)) == (0, 3)
        assert received[1] > 10 * MB
        assert received[2] > received[1] + 10 * MB

    def test_small_files_and_older_keepers_get_whole_files(self, api, token, tmp_path, monkeypatch, offsets):
        api.run()
        folder = tmp_path / "out"
        folder.mkdir()
        (folder / "a").write_bytes(os.urandom(5 * MB))
        (folder / "b").write_bytes(os.urandom(2 * MB))
        request = HttpClient.request

        def older(self, method, path, query=None, body=None):
            return request(self, method, path + "-unknown" if path.endswith("/upload") else path, query, body)

        monkeypatch.setattr(HttpClient, "request", older)
        address = KeeperAddress(url=f"http://127.0.0.1:{api.port}")
        warnings = []
        with agent_of("run-1", token("run-1", "agent"), address, tmp_path) as agent:
            assert collect_folder(agent, "run-1", str(folder), "outputs", warnings.append) == 2
        assert (warnings, offsets) == ([], [])
        assert len(api.owner.get("/runs/run-1/artifacts").json()["artifacts"]) == 2

    def test_two_nodes_with_the_same_file(self, api, token, tmp_path):
        for run in ("run-1", "run-2"):
            api.run(run)
        path = tmp_path / "same"
        path.write_bytes(os.urandom(24 * MB))
        address = KeeperAddress(url=f"http://127.0.0.1:{api.port}")
        done = []

        def ship(run):
            with agent_of(run, token(run, "agent"), address, tmp_path) as agent:
                done.append(uploads.upload_content(agent, sha_of(path), str(path)))

        threads = [threading.Thread(target=ship, args=(run,)) for run in ("run-1", "run-2")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert len(done) == 2
        assert any(done)
        assert api.record.content.size(sha_of(path)) == 24 * MB

    def test_a_file_that_changes_is_sent_as_it_is_in_the_end(self, api, token, tmp_path, monkeypatch):
        api.run()
        folder = tmp_path / "out"
        folder.mkdir()
        (folder / "a").write_bytes(os.urandom(8 * MB))
        read, changed = uploads._Rest.read, []

        def meddle(self, size=-1):
            if not changed:
                changed.append(True)
                (folder / "a").write_bytes(os.urandom(6 * MB))
            return read(self, size)

        monkeypatch.setattr(uploads._Rest, "read", meddle)
        address = KeeperAddress(url=f"http://127.0.0.1:{api.port}")
        warnings = []
        with agent_of("run-1", token("run-1", "agent"), address, tmp_path) as agent:
            assert collect_folder(agent, "run-1", str(folder), "outputs", warnings.append) == 1
        assert warnings == []
        stored = api.owner.get("/runs/run-1/artifacts").json()["artifacts"]
        assert stored[0]["sha256"] == sha_of(folder / "a")


@pytest.mark.slow
class TestKilled:
    def test_a_keeper_that_follows_goes_on(self, keepers, paths, outputs, offsets, tmp_path, monkeypatch):
        first, _ = keepers.start()
        with keepers.client() as client:
            assert client.post("/runs", json=run_spec()).status_code == 201
        record = Record(paths)
        token = record.tokens.make("run-1", "agent")
        record.close()
        half, killed = threading.Event(), threading.Event()
        read, passed = uploads._Rest.read, [0]

        def slow(self, size=-1):
            if passed[0] > SIZE // 2 and not killed.is_set():
                half.set()
                killed.wait(60)
            data = read(self, size)
            passed[0] += len(data)
            return data

        monkeypatch.setattr(uploads._Rest, "read", slow)
        warnings, stored = [], []

        def ship():
            with agent_of("run-1", token, KeeperAddress(endpoint_file=paths.endpoint), tmp_path) as agent:
                stored.append(collect_folder(agent, "run-1", outputs, "outputs", warnings.append))

        sending = threading.Thread(target=ship)
        sending.start()
        try:
            assert half.wait(60)
            first.kill()
            first.wait(60)
            killed.set()
            keepers.start()
        finally:
            killed.set()
            sending.join(120)
        assert not sending.is_alive()
        assert (stored, warnings) == ([1], [])
        with keepers.client() as client:
            (artifact,) = client.get("/runs/run-1/artifacts").json()["artifacts"]
        assert artifact["sha256"] == sha_of(os.path.join(outputs, "big model.pt"))
        assert len(offsets) == 2
        assert offsets[1] > SIZE // 4
