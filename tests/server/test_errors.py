from __future__ import annotations

import http.client
import socket

import pytest

from rookery.errors import all_errors
from rookery.server.limits import MAX_JSON_BYTES
from tests.server.conftest import run_spec

BAD_REQUESTS = [
    ("GET", "/nothing", None, 404),
    ("GET", "/../../etc/passwd", None, 404),
    ("GET", "/runs/", None, 404),
    ("DELETE", "/runs", None, 405),
    ("POST", "/hello", None, 405),
    ("GET", "/runs/nobody", None, 404),
    ("GET", "/runs/nobody/metrics", None, 404),
    ("GET", "/runs/nobody/logs/x", None, 404),
    ("GET", "/runs/nobody/artifacts/x", None, 404),
    ("GET", "/runs/nobody/events", None, 404),
    ("GET", "/runs?limit=0", None, 400),
    ("GET", "/runs?limit=many", None, 422),
    ("GET", "/runs?status=Finished", None, 400),
    ("GET", "/runs?cursor=x", None, 400),
    ("POST", "/runs", b"{", 400),
    ("POST", "/runs", b"[]", 400),
    ("POST", "/runs", b"[" * 100_000, 400),
    ("POST", "/runs", b"{}", 400),
    ("POST", "/runs", {**run_spec(), "colour": "red"}, 400),
    ("POST", "/runs", {**run_spec(), "node_count": "two"}, 400),
    ("POST", "/runs", {**run_spec(), "experiment": "../x"}, 400),
    ("POST", "/runs", {**run_spec(), "compute": "gpu4"}, 404),
    ("POST", "/runs", {**run_spec(), "parent_id": "nobody"}, 404),
    ("PATCH", "/runs/nobody", {"tags": {"a": "b"}}, 404),
    ("PATCH", "/runs/nobody", {"colour": "red"}, 422),
    ("PATCH", "/runs/nobody", b"{", 422),
    ("POST", "/runs/nobody/cancel", None, 404),
    ("POST", "/runs/nobody/records", {"records": []}, 404),
    ("POST", "/runs/nobody/records", {"records": {}}, 400),
    ("POST", "/runs/nobody/records", {}, 400),
    ("PUT", "/experiments/-x", None, 400),
    ("GET", "/experiments/nothing", None, 404),
    ("GET", "/experiments?view=some", None, 400),
    ("DELETE", "/experiments/nothing", None, 404),
    ("PUT", "/content/xyz", b"abc", 400),
    ("PUT", "/content/" + "0" * 64, b"abc", 409),
    ("GET", "/content/" + "0" * 64, None, 404),
    ("POST", "/content/pack", b"garbage" * 20, 400),
    ("POST", "/content/pack", b"0" * 64 + b"000000000000000f" + b"short", 400),
    ("POST", "/content/missing", {"sha256": ["x"]}, 400),
    ("POST", "/content/missing", {"sha256": "x"}, 400),
    ("POST", "/snapshots", {"entries": [{"path": "../x"}]}, 400),
    ("POST", "/snapshots", {"entries": 3}, 400),
    ("GET", "/snapshots/nothing", None, 404),
    ("GET", "/snapshots/nothing/zip", None, 404),
    ("GET", "/environments/nothing", None, 404),
    ("GET", "/environments/AzureML-Nothing", None, 404),
    ("GET", "/environments/AzureML-Minimal?version=7", None, 404),
    ("GET", "/environments/x?version=1&label=a", None, 400),
    ("POST", "/environments", {}, 400),
    ("POST", "/environments", {"definition": []}, 400),
    ("POST", "/environments", {"definition": {"name": "a/b"}}, 400),
    ("POST", "/environments", {"definition": {"name": "MICROSOFT-x"}}, 400),
    ("POST", "/environments", {"definition": {"name": "rookery-pytorch"}}, 400),
    ("POST", "/environments", {"definition": {"name": "x"}, "colour": "red"}, 400),
    ("POST", "/environments", {"definition": {"name": "x"}, "secret_values": {"A": 1}}, 400),
    ("POST", "/environments", {"definition": {"name": "x", "environmentVariables": {"A": "***"}}}, 400),
    ("POST", "/environments/nothing/labels", {"version": "1", "labels": ["a"]}, 404),
    ("POST", "/environments/builds", {"spec": {"colour": "red"}}, 400),
    ("POST", "/environments/specifications", {"file": "r.txt"}, 422),
    ("POST", "/environments/specifications", {"file": "r.txt", "text": "-e ."}, 400),
    ("GET", "/built-environments/nothing", None, 404),
    ("GET", "/built-environments?measure=perhaps", None, 422),
    ("POST", "/built-environments/prune", {"keys": ["nothing"]}, 404),
    ("POST", "/built-environments/prune", {"older_than_s": -1}, 400),
    ("POST", "/built-environments/prune", {"colour": "red"}, 422),
    ("GET", "/environments/builds/nothing", None, 404),
    ("GET", "/environments/builds/nothing/log", None, 404),
    ("GET", "/environments/builds/nothing/events", None, 404),
    ("POST", "/wheels", {"name": "../x.whl", "sha256": "0" * 64}, 400),
    ("POST", "/wheels", {"name": "a-1-py3-none-any.whl", "sha256": "0" * 64}, 404),
    ("POST", "/runs", {**run_spec(), "secret_values": {"A": "b"}}, 400),
    ("POST", "/runs", {**run_spec(), "variables": {"A": "***"}, "secrets": ["A"]}, 400),
    ("POST", "/runs", {**run_spec(), "variables": {"A": "b"}, "secrets": ["A"]}, 400),
    ("GET", "/compute/gpu4", None, 404),
    ("POST", "/compute", {"name": "local", "spec": {}}, 400),
    ("POST", "/compute", {"name": "gpu", "spec": {"max_nodes": -1}}, 400),
    ("POST", "/compute", {"name": "gpu", "spec": {"nodes": 1}}, 400),
    ("PATCH", "/compute/gpu4", {"max_nodes": 2}, 404),
    ("PATCH", "/compute/gpu4", {}, 400),
    ("DELETE", "/compute/gpu4", None, 404),
    ("POST", "/models", {"name": "m"}, 400),
    ("POST", "/models", {"name": "m", "run_id": "nobody"}, 404),
    ("GET", "/models/m", None, 404),
    ("GET", "/models/m?version=x", None, 422),
    ("GET", "/models/m/1/files/x", None, 404),
    ("POST", "/tokens", {"run_id": "nobody"}, 404),
    ("POST", "/agent/nobody/1/0/hello", {}, 404),
    ("POST", "/agent/nobody/one/0/hello", {}, 422),
    ("POST", "/agent/nobody/1/0/journal", {"journal": "j", "from": 0, "to": 1}, 404),
    ("POST", "/agent/nobody/1/0/journal", {"journal": "j", "from": "0", "to": 1}, 400),
    ("POST", "/agent/nobody/1/0/log?name=a&offset=0", b"x", 404),
    ("POST", "/agent/nobody/1/0/log?name=a", b"x", 422),
]


class TestShape:
    def test_every_error_has_the_same_shape(self, api):
        codes = set(all_errors())
        for method, path, body, status in BAD_REQUESTS:
            kind = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
            response = api.owner.request(method, path, **kind)
            where = f"{method} {path}: {response.status_code} {response.text[:300]}"
            assert response.status_code == status, where
            answer = response.json()
            assert list(answer) == ["error"], where
            assert set(answer["error"]) == {"code", "message", "details"}, where
            assert answer["error"]["code"] in codes, where
            assert len(answer["error"]["message"]) > 15, where
            assert isinstance(answer["error"]["details"], dict), where
            assert response.headers["X-Rookery-Version"], where

    def test_what_nobody_foresaw_is_a_500_without_secrets(self, api, monkeypatch, caplog):
        def explode(view="active"):
            raise RuntimeError("secret words")

        monkeypatch.setattr(api.record.experiments, "list", explode)
        response = api.owner.get("/experiments")
        assert response.status_code == 500
        assert response.json()["error"]["code"] == "service"
        assert "secret words" not in response.text
        assert response.headers["X-Rookery-Version"]
        assert "secret words" in caplog.text

    def test_a_full_disk_is_507(self, api, monkeypatch):
        import errno

        def full(*_args):
            raise OSError(errno.ENOSPC, "No space left on device")

        api.run()
        monkeypatch.setattr("os.pwrite", full)
        response = api.owner.post("/agent/run-1/1/0/log", params={"name": "a", "offset": 0}, content=b"x")
        assert response.status_code == 507
        assert response.json()["error"]["code"] == "storage"
        assert "full" in response.json()["error"]["message"]


class TestLimits:
    def connect(self, api):
        connection = http.client.HTTPConnection("keeper", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
        connection.sock.connect(api.socket)
        return connection

    def test_an_announced_body_that_is_too_large(self, api):
        connection = self.connect(api)
        connection.putrequest("POST", "/api/v1/runs")
        connection.putheader("Content-Length", str(MAX_JSON_BYTES + 1))
        connection.endheaders()
        response = connection.getresponse()
        assert response.status == 413
        assert b'"user_error"' in response.read()
        connection.close()

    def test_a_body_that_does_not_say_how_large_it_is(self, api):
        def chunks():
            for _ in range(66):
                yield b" " * 1024 * 1024

        for path in ("/runs", "/models"):
            response = api.owner.post(path, content=chunks(), headers={"Content-Type": "application/json"})
            assert response.status_code == 413, path
            assert response.json()["error"]["code"] == "user_error"

    def test_a_refused_upload_still_gets_its_answer(self, api):
        # The sender is still writing when the answer is clear; it must read 400, not a broken pipe.
        connection = self.connect(api)
        connection.putrequest("PUT", "/api/v1/runs/nobody/artifacts/x")
        connection.putheader("Content-Length", str(30_000_000))
        connection.endheaders()
        for _ in range(30):
            connection.send(b"x" * 1_000_000)
        assert connection.getresponse().status == 404
        connection.close()


class TestPathTricks:
    @pytest.mark.parametrize(
        "quoted",
        [
            "../x",
            "..%2f..%2fx",
            "%2e%2e/x",
            "a/%2e%2e/%2e%2e/x",
            "/etc/passwd",
            "%2Fetc%2Fpasswd",
            "a%00b",
            "x" * 5000,
            "C:%5Cx",
            "..%5c..%5cx",
        ],
    )
    def test_names_that_leave_the_folder(self, api, paths, tmp_path, quoted):
        api.run()
        before = sorted(str(p) for p in tmp_path.rglob("*") if "record.db" not in p.name)
        connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=60)
        with open(paths.token) as f:
            headers = {"Authorization": "Bearer " + f.read()}
        for method, path, body in (
            ("PUT", f"/runs/run-1/artifacts/{quoted}", b"evil"),
            ("GET", f"/runs/run-1/artifacts/{quoted}", None),
            ("GET", f"/runs/run-1/logs/{quoted}", None),
            ("POST", f"/agent/run-1/1/0/log?name={quoted}&offset=0", b"evil"),
        ):
            connection.request(method, "/api/v1" + path, body=body, headers=headers)
            response = connection.getresponse()
            text = response.read()
            assert response.status == 400, (method, path, response.status, text)
            assert b'"bad_path"' in text
        connection.close()
        assert (
            sorted(str(p) for p in tmp_path.rglob("*") if "record.db" not in p.name and p.name != "incoming") == before
        )

    def test_a_link_by_name_is_checked_too(self, api):
        api.run()
        response = api.owner.post("/runs/run-1/artifacts", json={"name": "../x", "sha256": "0" * 64})
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "bad_path"
