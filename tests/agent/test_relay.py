"""The agent's socket: what ranks ask is passed on whole, in both directions."""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
import threading

import pytest

from rookery.agent.keeper import Keeper
from rookery.agent.relay import Relay, listen
from rookery.errors import ArtifactNotFoundError, KeeperUnavailableError, ServiceError
from rookery.spec.job import Job, KeeperAddress
from rookery.testing.fake_keeper import FakeKeeper
from rookery.worker.http import HttpClient, UnixHTTPConnection, unix_connector


class Services:
    def __init__(self):
        self.drained = True

    def drain(self, timeout_s):
        return self.drained

    def finish(self, status, error):
        return {"state": "finished", "status": status}

    def identity(self):
        return {"run_id": "r1"}


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory(prefix="rk-") as folder:
        yield folder


@pytest.fixture
def keeper(place):
    made = FakeKeeper(place).start()
    yield made
    made.stop()


@pytest.fixture
def services():
    return Services()


@pytest.fixture
def path(place, keeper, services):
    """Where a relay answers."""
    job = Job("r1", 1, 0, "run", "rkr_agent", KeeperAddress(endpoint_file=keeper.endpoint))
    path = os.path.join(place, "relay.sock")
    sock = listen(path)
    relay = Relay(sock, Keeper(job, place, lambda text: None), services, "rkr_run")
    relay.start()
    yield path
    relay.stop()  # closing the socket alone would leave its thread spinning


@pytest.fixture
def client(path):
    made = HttpClient(unix_connector(path))
    yield made
    made.close()


class TestRelay:
    def test_large_upload_and_download(self, client, keeper, tmp_path):
        data = os.urandom(9_000_000)
        (tmp_path / "big").write_bytes(data)
        with open(tmp_path / "big", "rb") as f:
            client.upload("/runs/r1/artifacts/a%20b/big", f)
        assert hashlib.sha256(keeper.artifacts["r1"]["a b/big"]).digest() == hashlib.sha256(data).digest()
        with open(tmp_path / "back", "wb") as f:
            assert client.download("/runs/r1/artifacts/a%20b/big", f) == len(data)
        assert (tmp_path / "back").read_bytes() == data

    def test_errors_come_through(self, client):
        with pytest.raises(ArtifactNotFoundError):
            client.request("GET", "/runs/r1/artifacts/none")

    def test_waits_for_a_keeper_that_is_away(self, client, keeper):
        keeper.stop()
        timer = threading.Timer(0.3, keeper.start)
        timer.start()
        assert client.request("GET", "/runs/r1")["id"] == "r1"
        timer.join()

    def test_own_routes(self, path, services):
        client = HttpClient(unix_connector(path), prefix="")
        assert client.request("GET", "/agent") == {"run_id": "r1"}
        assert client.request("POST", "/drain", body={"timeout_s": 1}) == {}
        assert client.request("POST", "/finish", body={"status": "Failed"})["status"] == "Failed"
        services.drained = False
        with pytest.raises(ServiceError, match="Not everything was stored within 2 s"):
            client.request("POST", "/drain", body={"timeout_s": 2})
        client.close()

    def test_stream_comes_piece_by_piece_with_the_runs_token(self, place, keeper, path):
        """An answer without a length: each piece must arrive while the next one does not exist yet."""
        keeper.stop()
        server = socket.socket(socket.AF_UNIX)
        if os.path.exists(keeper.socket):
            os.unlink(keeper.socket)
        server.bind(keeper.socket)
        server.listen()
        connection = UnixHTTPConnection(path, 60)
        connection.request("GET", "/api/v1/events?after=0")
        upstream, _ = server.accept()
        asked = upstream.recv(65536).decode()
        assert asked.startswith("GET /api/v1/events?after=0 ")
        assert "Authorization: Bearer rkr_run" in asked
        upstream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\n\n")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"
        assert answer.read1(100) == b"id: 1\n\n"
        upstream.sendall(b"id: 2\n\n")
        assert answer.read1(100) == b"id: 2\n\n"
        upstream.close()
        assert answer.read() == b""
        connection.close()
        server.close()

    def test_keeper_lost_in_the_middle_is_an_error_for_the_rank(self, keeper, path):
        keeper.stop()
        server = socket.socket(socket.AF_UNIX)
        if os.path.exists(keeper.socket):
            os.unlink(keeper.socket)
        server.bind(keeper.socket)
        server.listen()
        client = HttpClient(unix_connector(path))
        failed = []

        def ask():
            with pytest.raises(KeeperUnavailableError):
                client.request("GET", "/runs/r1")
            failed.append(True)
            client.close()

        thread = threading.Thread(target=ask)
        thread.start()
        upstream, _ = server.accept()
        upstream.recv(65536)
        upstream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        upstream.close()
        thread.join(90)
        assert failed == [True]
        server.close()


class TestListen:
    def test_socket_is_private(self, place):
        sock = listen(os.path.join(place, "s"))
        assert os.stat(os.path.join(place, "s")).st_mode & 0o777 == 0o600
        sock.close()
