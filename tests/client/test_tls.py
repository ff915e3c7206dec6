"""A server that speaks TLS, a real one, and clients of it: by address and token, and by config.json."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys

import pytest

from rookery.client import Client, create_workspace
from rookery.client.config import read_config, write_config
from rookery.errors import AuthenticationError, ConfigError, KeeperUnavailableError, UserError
from rookery.sdk import Workspace
from rookery.testing.certificates import make_certificate


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("tls"))
    authority = make_certificate(folder, "authority")
    return {
        "authority": authority,
        "signed": make_certificate(folder, "signed", authority=authority),
        "own": make_certificate(folder, "own", host="keeper.invalid"),
        "elsewhere": make_certificate(folder, "elsewhere", host="192.0.2.1", authority=authority),
    }


@pytest.fixture
def serve(tmp_path):
    """Starts a server with a certificate; gives its address and the owner's token."""
    root = str(tmp_path / "it's a workspace")
    create_workspace(root, "birds")
    processes = []

    def start(certificate):
        ready, told = os.pipe()
        command = [sys.executable, "-m", "rookery.server", "--workspace", root, "--ready-fd", str(told), "--foreground"]
        command += ["--tls-cert", certificate.cert, "--tls-key", certificate.key]
        processes.append(subprocess.Popen(command, pass_fds=(told,)))
        os.close(told)
        assert os.read(ready, 1) == b"1"
        os.close(ready)
        with open(os.path.join(root, "keeper", "keeper.json")) as f:
            port = json.load(f)["port"]
        with open(os.path.join(root, "keeper", "token")) as f:
            return f"https://127.0.0.1:{port}", f.read()

    yield start
    for process in processes:
        process.terminate()
        assert process.wait(120) == 0


class TestTls:
    def test_everything_a_client_does(self, serve, made):
        url, token = serve(made["signed"])
        with Client.for_url(url, token, made["authority"].cert) as client:
            assert client.request("GET", "/workspace")["name"] == "birds"
            data = os.urandom(3_000_000)
            sha256 = hashlib.sha256(data).hexdigest()
            client.upload(f"/content/{sha256}", io.BytesIO(data))
            target = io.BytesIO()
            assert client.download(f"/content/{sha256}", target) == len(data)
            assert target.getvalue() == data
            client.request("PUT", "/experiments/hens")
            with client.stream("/events", after=0) as events:
                client.request("POST", "/environments", body={"definition": {"name": "e1"}})
                assert next(events).kind == "environment"

    def test_connections_are_kept(self, serve, made, monkeypatch):
        url, token = serve(made["own"])
        with Client.for_url(url, token, made["own"].cert) as client:
            client.request("GET", "/workspace")
            monkeypatch.setattr(client, "_connect", lambda: pytest.fail("connected again"))
            for _ in range(5):
                client.request("GET", "/workspace")

    def test_a_token_is_needed(self, serve, made):
        url, _ = serve(made["own"])
        with Client.for_url(url, None, made["own"].cert) as client, pytest.raises(AuthenticationError):
            client.request("GET", "/runs")

    def test_what_is_not_trusted_is_refused_and_said(self, serve, made):
        url, token = serve(made["elsewhere"])
        for ca in (made["authority"].cert, made["own"].cert, None):
            with Client.for_url(url, token, ca) as client, pytest.raises(ConfigError, match="not trusted"):
                client.request("GET", "/workspace")
        with Client.for_url(url, token, made["elsewhere"].cert) as client:  # exactly this one
            assert client.request("GET", "/workspace")["name"] == "birds"

    def test_a_file_that_is_not_there_or_no_certificate(self, made, tmp_path):
        with pytest.raises(ConfigError, match="server_ca"):
            Client.for_url("https://127.0.0.1:1", "t", str(tmp_path / "none.pem"))
        with pytest.raises(UserError, match="no certificate"):
            Client.for_url("https://127.0.0.1:1", "t", made["own"].key)

    def test_plain_http_is_not_answered(self, serve, made):
        url, token = serve(made["own"])
        with Client.for_url(url.replace("https", "http"), token) as client, pytest.raises(KeeperUnavailableError):
            client.request("GET", "/workspace")


class TestConfig:
    def test_the_sdk_finds_server_token_and_certificate(self, serve, made, tmp_path, monkeypatch):
        url, token = serve(made["own"])
        project = tmp_path / "project"
        (project / ".azureml").mkdir(parents=True)
        (project / ".azureml" / "server.pem").write_text(made["own"].pem)
        keys = {"subscription_id": "s", "resource_group": "g", "workspace_name": "birds"}
        ours = {"format": 1, "url": url, "ca": "server.pem"}
        (project / ".azureml" / "config.json").write_text(json.dumps({**keys, "rookery": ours}))
        monkeypatch.setenv("ROOKERY_TOKEN", token)
        workspace = Workspace.from_config(str(project))
        assert workspace.name == "birds"
        assert workspace.compute_targets == {}
        found = read_config(str(project / ".azureml" / "config.json"))
        copy = write_config(found, str(tmp_path / "copy"))
        with open(copy) as f:
            text = f.read()
        assert token not in text
        assert os.path.samefile(read_config(copy).ca, project / ".azureml" / "server.pem")

    def test_the_setting_says_what_to_trust(self, serve, made, monkeypatch):
        url, token = serve(made["signed"])
        monkeypatch.setenv("ROOKERY_SERVER_CA", made["authority"].cert)
        with Client.for_url(url, token) as client:
            assert client.request("GET", "/workspace")["name"] == "birds"

    def test_a_ca_that_is_no_path_is_an_error(self, tmp_path):
        keys = {"subscription_id": "s", "resource_group": "g", "workspace_name": "birds"}
        path = tmp_path / "config.json"
        path.write_text(json.dumps({**keys, "rookery": {"format": 1, "url": "https://h:1", "ca": 7}}))
        with pytest.raises(ConfigError, match="'ca'"):
            read_config(str(path))
