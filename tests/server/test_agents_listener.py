"""The listener for agents: real sockets, real TLS, and everybody who has no business there."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import threading
import time

import httpx
import pytest

from rookery.agent.keeper import Keeper
from rookery.engine.reach.certificates import certificate_for_nodes
from rookery.errors import AuthenticationError, ComputeError, ConfigError, KeeperUnavailableError, UserError
from rookery.server import connections, listening
from rookery.server.agents import address_facing
from rookery.server.limits import is_streamed
from rookery.spec.job import Job, KeeperAddress
from rookery.spec.protocol import PREFIX
from rookery.testing.certificates import make_certificate
from rookery.worker.http import HttpClient, url_connector
from tests.server.conftest import client_at, run_spec

LOG = "azureml-logs/70_driver_log.txt"


@pytest.fixture
def door(api):
    """The address of a listener that was opened for nodes on this machine."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return api.app.state.services.agents.ensure("127.0.0.1")
        except KeeperUnavailableError:  # the server's thread has not come so far
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def at(door, api):
    def client(token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        api.clients.append(client_at(door + "/api/v1", headers=headers))
        return api.clients[-1]

    return client


def owner_token(api):
    with open(api.record.paths.token) as f:
        return f.read()


class TestWho:
    def test_takes_the_tokens_of_runs_and_agents(self, api, at, token):
        api.run()
        assert at(token()).get("/runs/run-1").json()["id"] == "run-1"
        assert at(token()).patch("/runs/run-1", json={"tags": {"a": "b"}}).status_code == 200
        assert at(token(kind="agent")).post("/agent/run-1/1/0/hello", json={}).json()["cancel"] is False

    def test_has_the_rules_of_the_main_port(self, api, at, token):
        api.run()
        api.run("other")
        assert at(token()).patch("/runs/other", json={"tags": {"a": "b"}}).status_code == 403
        assert at(token()).post("/agent/run-1/1/0/hello", json={}).status_code == 403
        assert at(token(kind="agent")).post("/agent/other/1/0/hello", json={}).status_code == 403
        assert at(token()).post("/keeper/stop").status_code == 403

    def test_hello_is_open_and_tells_the_time(self, at):
        hello = at().get("/hello").json()
        assert hello["service"] == "rookery"
        assert abs(hello["time"] - time.time()) < 30

    @pytest.mark.parametrize("path", ["/runs", "/keeper", "/openapi.json", "/nothing", "/hello/", "/../api/v1/runs"])
    def test_nothing_else_is_open(self, at, path):
        response = at().get(path)
        assert response.status_code == 401
        assert "token of a run" in response.json()["error"]["message"]
        assert response.headers["X-Rookery-Version"]

    def test_refuses_the_owner_in_words(self, api, at):
        response = at(owner_token(api)).get("/runs")
        assert response.status_code == 403
        assert "not the owner's" in response.json()["error"]["message"]
        assert at(owner_token(api)).post("/keeper/stop").status_code == 403
        assert api.owner.get("/runs").status_code == 200  # who is where he belongs

    @pytest.mark.parametrize("header", ["Basic x", "Bearer", "Bearer x", "Bearer rkr_e30.e30"])
    def test_refuses_bad_tokens(self, at, header):
        assert at().get("/runs", headers={"Authorization": header}).status_code == 401

    def test_refuses_a_token_that_is_over(self, api, at):
        api.run()
        old = api.record.tokens.make("run-1", "agent", expires=time.time() - 1)
        assert "expired" in at(old).post("/agent/run-1/1/0/hello", json={}).json()["error"]["message"]

    def test_no_header_makes_anybody_the_owner(self, at):
        for headers in ({"X-Forwarded-For": "127.0.0.1"}, {"Host": "localhost"}, {"Forwarded": "for=unix"}):
            assert at().get("/runs", headers=headers).status_code == 401


class TestService:
    def test_a_long_poll_ends_with_what_it_waits_for(self, api, at, token):
        api.run()
        client = at(token(kind="agent"))
        client.post("/agent/run-1/1/0/hello", json={})
        client.post("/agent/run-1/1/0/running", json={"ranks": []})
        answers = []

        def poll():
            while not answers:  # each waits for 25 s at most
                told = client.get("/agent/run-1/1/0/commands").json()
                answers.extend([told] if told["commands"] else [])

        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        deadline = time.monotonic() + 60
        while not api.app.state.services.waiters and time.monotonic() < deadline:
            time.sleep(0.01)
        api.owner.post("/runs/run-1/cancel")
        thread.join(60)
        assert answers[0]["commands"][0]["command"] == "cancel"

    def test_clients_that_say_nothing_or_little_hold_up_nobody(self, door, api, at, token):
        api.run()
        host, port = door[len("http://") :].split(":")
        slow = [socket.create_connection((host, int(port))) for _ in range(100)]
        for i, sock in enumerate(slow):
            sock.sendall(b"POST /api/v1/agent/run-1/1/0/log HTTP/1.1\r\nContent-Le"[: 10 + i % 50])
        assert at(token()).get("/runs/run-1").status_code == 200
        for sock in slow:
            sock.setblocking(False)
            with pytest.raises(BlockingIOError):  # nobody had to be cut off for it
                sock.recv(1)
            sock.close()

    def test_hangs_up_on_who_says_nothing_for_long(self, api, monkeypatch):
        monkeypatch.setattr(connections, "HEAD_S", 0.5)  # who has not said a word by then is told nothing
        monkeypatch.setattr(connections, "SWEEP_S", 0.05)
        agents = api.app.state.services.agents
        deadline = time.monotonic() + 60
        while agents._loop is None and time.monotonic() < deadline:
            time.sleep(0.01)
        url = agents.ensure("127.0.0.1")
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60) as sock:
            sock.sendall(b"GET /api/v1/hello HT")
            assert sock.recv(12) == b"HTTP/1.1 408"

    def test_a_body_that_is_too_large_is_refused(self, api, door, token):
        api.run()
        connection = http.client.HTTPConnection("127.0.0.1", int(door.rpartition(":")[2]), timeout=60)
        connection.putrequest("POST", "/api/v1/agent/run-1/1/0/hello")
        connection.putheader("Authorization", "Bearer " + token(kind="agent"))
        connection.putheader("Content-Length", str(65 * 1024**2))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()


class TestLimits:
    @pytest.mark.parametrize(
        ("path", "streamed"),
        [
            ("/agent/run-1/1/0/checkpoints/a/b.pt", True),
            ("/runs/run-1/artifacts/a", True),
            ("/content/" + "0" * 64, True),
            ("/agent/run-1/1/0/log", False),
            ("/runs", False),
        ],
    )
    def test_files_may_be_of_any_size(self, path, streamed):
        assert is_streamed({"method": "PUT", "path": PREFIX + path}) == streamed


class TestAddress:
    def test_answers_are_sent_at_once(self):
        """What asyncio goes by when it decides about TCP_NODELAY."""
        with listening.bind_tcp("127.0.0.1", 0) as sock:
            assert sock.proto == socket.IPPROTO_TCP

    def test_is_the_one_that_faces_the_nodes(self):
        assert address_facing("127.0.0.1") == "127.0.0.1"
        assert address_facing("127.0.0.7") == "127.0.0.1"
        assert address_facing("[::1]") == "::1"

    def test_says_what_cannot_be_found(self):
        with pytest.raises(ComputeError, match="looked up"):
            address_facing("no-such-host.invalid")

    def test_is_opened_once(self, api, door):
        agents = api.app.state.services.agents
        assert [agents.ensure("127.0.0.1") for _ in range(3)] == [door] * 3
        assert agents.urls == [door]
        assert api.owner.get("/keeper").json()["agents"] == {"urls": [door]}

    def test_a_port_of_the_settings_that_is_taken_is_an_error(self, api, door, monkeypatch):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            monkeypatch.setenv("ROOKERY_AGENTS_HOST", "127.0.0.2")
            monkeypatch.setenv("ROOKERY_AGENTS_PORT", str(taken.getsockname()[1]))
            api.app.state.services.agents.ensure("127.0.0.1")  # another address: it is free there
            monkeypatch.setenv("ROOKERY_AGENTS_HOST", "0.0.0.0")
            with pytest.raises(UserError, match="agents_port"):
                api.app.state.services.agents.ensure("127.0.0.1")

    def test_an_address_that_is_not_ours_is_an_error(self, api, door, monkeypatch):
        monkeypatch.setenv("ROOKERY_AGENTS_HOST", "192.0.2.1")
        with pytest.raises(UserError, match=r"192\.0\.2\.1"):
            api.app.state.services.agents.ensure("127.0.0.1")

    def test_all_interfaces_are_named_by_the_one_that_faces(self, api, door, monkeypatch):
        monkeypatch.setenv("ROOKERY_AGENTS_HOST", "0.0.0.0")
        url = api.app.state.services.agents.ensure("127.0.0.3")
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(url + "/api/v1/hello", timeout=60, trust_env=False).status_code == 200


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An authority, a certificate of its own, and some that it has signed."""
    folder = str(tmp_path_factory.mktemp("tls"))
    authority = make_certificate(folder, "authority")
    return {
        "authority": authority,
        "own": make_certificate(folder, "own", host="keeper.invalid"),
        "signed": make_certificate(folder, "signed", authority=authority),
        "elsewhere": make_certificate(folder, "elsewhere", host="192.0.2.1", authority=authority),
    }


class TestTls:
    def serve(self, api, monkeypatch, certificate, authority=None):
        monkeypatch.setenv("ROOKERY_AGENTS_TLS_CERT", certificate.cert)
        monkeypatch.setenv("ROOKERY_AGENTS_TLS_KEY", certificate.key)
        monkeypatch.setenv("ROOKERY_AGENTS_TLS_CA", authority.cert if authority else "")
        agents = api.app.state.services.agents
        deadline = time.monotonic() + 60
        while agents._loop is None and time.monotonic() < deadline:
            time.sleep(0.01)
        url = agents.ensure("127.0.0.1")
        assert url.startswith("https://127.0.0.1:")
        return url, agents.certificate

    def ask(self, url, pem, token=None):
        client = HttpClient(url_connector(url, pem, 60), token)
        try:
            return client.request("GET", "/hello" if token is None else "/runs/run-1")
        finally:
            client.close()

    def test_a_certificate_of_its_own_is_accepted_whatever_its_name(self, api, monkeypatch, made, token):
        url, pem = self.serve(api, monkeypatch, made["own"])
        api.run()
        assert self.ask(url, pem)["service"] == "rookery"
        assert self.ask(url, pem, token())["id"] == "run-1"
        with pytest.raises(AuthenticationError):
            self.ask(url, pem, owner_token(api))

    def test_a_signed_one_is_accepted_as_itself(self, api, monkeypatch, made):
        """No authority is needed to accept exactly this one."""
        url, pem = self.serve(api, monkeypatch, made["signed"])
        assert "PRIVATE" not in pem
        assert self.ask(url, pem)["service"] == "rookery"

    def test_with_an_authority_the_name_counts(self, api, monkeypatch, made):
        url, pem = self.serve(api, monkeypatch, made["signed"], made["authority"])
        assert self.ask(url, pem)["service"] == "rookery"

    def test_one_for_another_name_is_refused(self, api, monkeypatch, made):
        url, pem = self.serve(api, monkeypatch, made["elsewhere"], made["authority"])
        with pytest.raises(KeeperUnavailableError, match="certificate"):
            self.ask(url, pem)

    def test_another_certificate_is_refused(self, api, monkeypatch, made):
        url, _ = self.serve(api, monkeypatch, made["own"])
        for pem in (made["signed"].pem, made["authority"].pem, ""):
            with pytest.raises(KeeperUnavailableError, match="certificate"):
                self.ask(url, pem)

    def test_plain_http_gets_no_answer_there(self, api, monkeypatch, made):
        url, _ = self.serve(api, monkeypatch, made["own"])
        with pytest.raises(KeeperUnavailableError):
            self.ask(url.replace("https", "http"), "")

    def test_old_versions_of_tls_are_refused(self, api, monkeypatch, made):
        url, _ = self.serve(api, monkeypatch, made["own"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        sock = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60)
        with sock, pytest.raises(OSError, match=r"(?i)version|protocol|reset"):
            context.wrap_socket(sock)

    def test_an_agent_keeps_its_connection(self, api, monkeypatch, made, tmp_path):
        url, pem = self.serve(api, monkeypatch, made["own"])
        api.run()
        token = api.record.tokens.make("run-1", "agent")
        address = KeeperAddress(url="https://127.0.0.1:1", urls=(url,), certificate=pem)
        keeper = Keeper(Job("run-1", 1, 0, "run", token, address), str(tmp_path), lambda text: None)
        assert keeper.call("POST", "hello", body={})["logs"] == {}
        data = os.urandom(300_000)
        assert keeper.call("POST", "log", {"name": LOG, "offset": 0}, data) == {"ack": len(data)}
        assert api.record.logs.read("run-1", LOG, 0, len(data)) == data
        keeper.client().close()

    @pytest.mark.parametrize(
        ("cert", "key", "words"),
        [
            ("nothing.pem", "own.key", "nothing.pem"),
            ("own.pem", "signed.key", "belongs"),
            ("", "own.key", "no certificate"),
        ],
    )
    def test_files_that_do_not_fit_are_said(self, api, door, monkeypatch, made, cert, key, words):
        folder = os.path.dirname(made["own"].cert)
        monkeypatch.setenv("ROOKERY_AGENTS_TLS_CERT", cert and os.path.join(folder, cert))
        monkeypatch.setenv("ROOKERY_AGENTS_TLS_KEY", os.path.join(folder, key))
        monkeypatch.setenv("ROOKERY_AGENTS_HOST", "127.0.0.4")
        with pytest.raises(ConfigError, match=words):
            api.app.state.services.agents.ensure("127.0.0.1")

    def test_a_file_without_a_certificate_is_said(self, monkeypatch, made):
        monkeypatch.setenv("ROOKERY_AGENTS_TLS_CERT", made["own"].key)
        with pytest.raises(ConfigError, match="agents_tls_cert"):
            certificate_for_nodes("/nowhere")


@pytest.mark.slow
class TestKeeper:
    """A keeper as a process: what is opened is opened again."""

    def attach(self, keepers, url):
        spec = {"engine": "slurm", "max_nodes": 2, "reach": {"keeper_url": url, "transport": "http"}}
        with keepers.client() as client:
            assert client.post("/compute", json={"name": "far", "spec": spec, "check": False}).status_code == 201

    def test_opens_what_targets_need_at_every_start(self, keepers, paths):
        process, _ = keepers.start()
        assert keepers.endpoint()["agents"] == {"urls": []}
        self.attach(keepers, "http://127.0.0.1:1")
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        process, byte = keepers.start()
        assert byte == b"1"
        [url] = keepers.endpoint()["agents"]["urls"]
        assert httpx.get(url + "/api/v1/hello", timeout=60, trust_env=False).json()["pid"] == process.pid
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        process, _ = keepers.start()
        assert keepers.endpoint()["agents"] == {"urls": [url]}  # the same port
        assert httpx.get(url + "/api/v1/hello", timeout=60, trust_env=False).json()["pid"] == process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0

    def test_starts_although_an_address_cannot_be_had(self, keepers, paths):
        process, _ = keepers.start()
        self.attach(keepers, "http://no-such-host.invalid:7000")
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process, byte = keepers.start()
        assert byte == b"1"
        assert keepers.endpoint()["agents"] == {"urls": []}
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert "no-such-host.invalid" in err

    def test_attached_targets_alone_do_not_keep_it(self, keepers, paths):
        keepers.environment["ROOKERY_KEEPER_IDLE_S"] = "0.5"
        process, _ = keepers.start("--no-idle")
        self.attach(keepers, "http://127.0.0.1:1")
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process, _ = keepers.start()
        assert process.wait(60) == 0

    def test_the_main_port_speaks_tls_where_it_is_told_to(self, keepers, paths, made):
        process, byte = keepers.start("--tls-cert", made["own"].cert, "--tls-key", made["own"].key)
        assert byte == b"1"
        endpoint = keepers.endpoint()
        assert endpoint["tls"] is True
        with open(paths.token) as f:
            token = f.read()
        client = HttpClient(url_connector(f"https://127.0.0.1:{endpoint['port']}", made["own"].pem, 60), token)
        assert client.request("GET", "/keeper")["pid"] == process.pid
        client.close()
        with keepers.client() as local:
            assert local.post("/runs", json=run_spec()).status_code == 201
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0

    def test_a_key_of_another_certificate_is_said_at_the_start(self, keepers, made):
        error = keepers.fails("--tls-cert", made["own"].cert, "--tls-key", made["signed"].key)
        assert error["code"] == "config"
        assert json.dumps(made["own"].cert)[1:-1] in error["message"]
