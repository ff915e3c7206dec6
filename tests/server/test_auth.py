from __future__ import annotations

import pytest

from rookery.server.auth import RULES
from rookery.spec.protocol import PREFIX
from tests.server.conftest import run_spec


def family(api):
    """run-1 with a child and a submitted child run; other is a stranger."""
    api.run()
    api.run("kid", kind="child", parent_id="run-1")
    api.run("grandkid", parent_id="kid")
    api.run("other")


class TestWho:
    def test_the_port_needs_a_token_and_hello_does_not(self, api, paths):
        assert api.tcp().get("/hello").json()["workspace"]["name"] == "coop"
        assert api.tcp().get("/runs").status_code == 401
        with open(paths.token) as f:
            assert api.tcp(f.read()).get("/runs").status_code == 200

    @pytest.mark.parametrize("token", ["x", "rko_" + "x" * 43, "rkr_e30.e30", "rkr_\u00e9"])
    def test_bad_tokens_are_refused_on_both(self, api, token):
        headers = {"Authorization": b"Bearer " + token.encode("latin-1")}
        for client in (api.tcp(), api.owner):
            response = client.get("/runs", headers=headers)
            assert response.status_code == 401
            assert response.json()["error"]["code"] == "authentication"
            assert response.headers["WWW-Authenticate"] == "Bearer"
        assert api.owner.get("/runs", headers={"Authorization": "Basic x"}).status_code == 401

    def test_a_run_token_on_the_socket_has_only_the_runs_rights(self, api, token):
        family(api)
        headers = {"Authorization": f"Bearer {token()}"}
        assert api.owner.patch("/runs/other", json={"tags": {"a": "b"}}, headers=headers).status_code == 403
        assert api.owner.patch("/runs/run-1", json={"tags": {"a": "b"}}, headers=headers).status_code == 200


class TestRunToken:
    def test_writes_only_to_its_own_family(self, api, token):
        family(api)
        client = api.tcp(token())
        for run_id, status in (
            ("run-1", 200),
            ("kid", 200),
            ("grandkid", 200),
            ("other", 403),
            ("nobody", 403),
        ):
            assert client.patch(f"/runs/{run_id}", json={"tags": {"a": "b"}}).status_code == status, run_id
            assert (
                client.post(f"/runs/{run_id}/records", json={"records": [["m", None, "x", 1, None, 1.0]]}).status_code
                == status
            )
            assert client.put(f"/runs/{run_id}/artifacts/a.txt", content=b"x").status_code == (
                201 if status == 200 else 403
            )
            assert client.post(f"/runs/{run_id}/cancel").status_code == (202 if status == 200 else 403)
        assert api.record.runs.get("other")["tags"] == {}
        assert api.record.metrics.get("other") == []

    def test_reads_everything(self, api, token):
        family(api)
        client = api.tcp(token())
        for path in (
            "/runs",
            "/runs/other",
            "/runs/other/metrics",
            "/experiments",
            "/compute",
            "/models",
            "/workspace",
            "/keeper",
        ):
            assert client.get(path).status_code == 200, path

    def test_creates_runs_and_models_only_of_its_family(self, api, token):
        family(api)
        client = api.tcp(token())
        assert client.post("/runs", json=run_spec("new-1", parent_id="kid")).status_code == 201
        assert client.post("/runs", json=run_spec("new-2", parent_id="other")).status_code == 403
        assert client.post("/runs", json=run_spec("new-3")).status_code == 403
        client.put("/runs/run-1/artifacts/m.pt", content=b"m")
        api.owner.put("/runs/other/artifacts/m.pt", content=b"m")
        assert client.post("/models", json={"name": "m", "run_id": "run-1", "path": "m.pt"}).status_code == 201
        assert client.post("/models", json={"name": "m", "run_id": "other", "path": "m.pt"}).status_code == 403
        entry = {"path": "m.pt", "sha256": api.record.artifacts.get("run-1", "m.pt")["sha256"], "size": 1}
        assert client.post("/models", json={"name": "m", "entries": [entry]}).status_code == 403

    def test_everything_else_that_changes_something_is_the_owners(self, api, token):
        family(api)
        for kind in ("run", "agent"):
            client = api.tcp(token("run-1", kind))
            for method, path in sorted(_writing_routes(api.app)):
                if RULES[method, path].run or RULES[method, path].least == "nobody":
                    continue
                url = path.format_map(PathWords(run_id="run-1"))
                response = client.request(
                    method,
                    url,
                    json={"run_id": "run-1"} if path == "/tokens" else {"name": "abc"} if path == "/compute" else {},
                )
                assert response.status_code == 403, (kind, method, path, response.text)
                assert response.json()["error"]["code"] == "authentication"

    def test_agent_routes_need_the_agent_of_that_run(self, api, token):
        family(api)
        body = {"pid": 1, "start_ticks": 1, "hostname": "h", "version": "0", "protocol": 1, "mode": "run"}
        assert api.tcp(token("run-1", "agent")).post("/agent/run-1/1/0/hello", json=body).status_code == 200
        assert api.tcp(token("run-1", "agent")).post("/agent/other/1/0/hello", json=body).status_code == 403
        assert api.tcp(token("run-1", "agent")).post("/agent/kid/1/0/hello", json=body).status_code == 403
        assert api.tcp(token("run-1", "run")).post("/agent/run-1/1/0/hello", json=body).status_code == 403
        assert api.tcp(token("run-1", "run")).get("/agent/run-1/1/0/commands").status_code == 403
        for who in (token("run-1", "run"), token("run-2", "agent")):
            assert api.tcp(who).get("/agent/run-1/1/0/rendezvous").status_code == 403
            body = {"address": "127.0.0.1", "port": 6105}
            assert api.tcp(who).post("/agent/run-1/1/0/rendezvous", json=body).status_code == 403
            assert api.tcp(who).get("/agent/run-1/1/0/job").status_code == 403
            assert api.tcp(who).get("/agent/run-1/1/0/checkpoints/step").status_code == 403
            assert api.tcp(who).put("/agent/run-1/1/0/checkpoints/step", content=b"7").status_code == 403

    def test_a_token_made_by_the_owner(self, api):
        api.run()
        made = api.owner.post("/tokens", json={"run_id": "run-1"}).json()
        assert made["expires_utc"].endswith("Z")
        assert api.tcp(made["token"]).patch("/runs/run-1", json={"display_name": "n"}).status_code == 200


def _routes(app):
    paths = app.openapi()["paths"]
    for path, methods in paths.items():
        assert path.startswith(PREFIX)
        for method in methods:
            # OpenAPI drops the `:path` of a parameter.
            below = path[len(PREFIX) :]
            for name in ("artifacts/{name}", "checkpoints/{name}", "logs/{name}", "files/{path}"):
                below = below.replace(name, name[:-1] + ":path}")
            yield method.upper(), below


class PathWords(dict):
    """Something for every name in a route's path."""

    def __missing__(self, name):
        return "1"


def _writing_routes(app):
    return {(method, path) for method, path in _routes(app) if method not in ("GET", "HEAD")}
