"""Request ids, numbers, health, logs, and life behind a proxy."""

from __future__ import annotations

import json
import logging
import re

import pytest

from rookery.server.reception import parse_proxies
from tests.server.conftest import client_at


@pytest.fixture
def root(api):
    with client_at(f"http://127.0.0.1:{api.port}") as client:
        yield client


class TestRequestIds:
    def test_are_in_answers_and_errors(self, api):
        response = api.owner.get("/runs/none")
        assert response.headers["X-Request-Id"] == response.json()["error"]["details"]["request_id"]
        assert api.owner.get("/runs", headers={"X-Request-Id": "from-me.1"}).headers["X-Request-Id"] == "from-me.1"
        odd = api.owner.get("/runs", headers={"X-Request-Id": "a b<script>"}).headers["X-Request-Id"]
        assert re.fullmatch("[0-9a-f]{16}", odd)


class TestNumbers:
    def test_prometheus(self, api, root):
        api.run()
        api.owner.get("/runs/run-1")
        api.owner.get("/runs/none")
        api.owner.post("/runs/run-1/records", json={"records": [["m", None, "x", n, None, 1.0] for n in range(7)]})
        root.get("/no/such/path/1")
        root.get("/no/such/path/2")
        assert root.get("/metrics").status_code == 401
        api.record.people.add("prom", "reader", None, "test")
        token = api.record.people.make_token("prom", "x", 60)["token"]
        page = root.get("/metrics", headers={"Authorization": f"Bearer {token}"})
        assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
        lines = page.text.splitlines()
        assert 'rookery_runs{status="Queued"} 1' in lines
        assert 'rookery_http_requests_total{method="GET",route="/runs/{run_id}",status="200"} 1' in lines
        assert 'rookery_http_requests_total{method="GET",route="/runs/{run_id}",status="404"} 1' in lines
        assert 'rookery_http_requests_total{method="GET",route="none",status="404"} 2' in lines
        assert 'rookery_http_request_duration_seconds_bucket{method="GET",route="/runs/{run_id}",le="+Inf"} 2' in lines
        assert int(re.search(r"^rookery_metric_values_total (\d+)$", page.text, re.M)[1]) >= 7
        for line in lines:
            assert line.startswith("# ") or re.fullmatch(
                r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+', line
            ), line

    def test_health(self, api, root):
        assert root.get("/healthz").json() == {"status": "ok"}


class TestBehindAProxy:
    def test_a_prefix_is_taken_away_where_it_is(self, api, root):
        api.app.state.services.prefix = "/rookery"
        assert root.get("/rookery/api/v1/hello").status_code == 200
        assert root.get("/api/v1/hello").status_code == 200
        assert root.get("/rookery").headers["location"] == "/rookery/login"
        assert '<form method="post">' in root.get("/rookery/login").text  # to the address it stands at

    def test_forwarded_headers_count_only_from_those_who_are_trusted(self, api, root):
        api.record.people.add("ann", "reader", "a long password", "test")
        given = {"X-Forwarded-For": "6.6.6.6, 203.0.113.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "birds.example",
                 "Origin": "https://birds.example"}  # fmt: skip
        form = {"name": "ann", "password": "a long password"}
        assert root.post("/login", data=form, headers=given).status_code == 403
        api.app.state.services.proxies = parse_proxies("127.0.0.0/8, ::1")
        entered = root.post("/login", data=form, headers=given)
        assert entered.status_code == 303
        assert "Secure" in entered.headers["set-cookie"]
        assert api.owner.get("/audit").json()["entries"][0]["address"] == "203.0.113.7"

    def test_rubbish_is_refused(self):
        with pytest.raises(ValueError, match="proxy"):
            parse_proxies("proxy")


class TestLogs:
    def test_json_lines_with_the_request(self, api, capsys):
        from rookery.server import logs

        before = logging.getLogger().handlers[:], logging.getLogger().level
        try:
            logs.start_logging("json", requests=True)
            api.app.state.services.logs_requests = True
            api.owner.get("/runs/none", headers={"X-Request-Id": "abc"})
            api.owner.post("/agent/none/1/0/beat", json={})
        finally:
            logging.getLogger().handlers[:], level = before
            logging.getLogger().setLevel(level)
            logging.getLogger("rookery.requests").setLevel(logging.NOTSET)
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
        line = next(one for one in lines if one.get("request_id") == "abc")
        assert (line["method"], line["route"], line["status"], line["who"]) == ("GET", "/runs/{run_id}", 404, "owner")
        assert line["duration_ms"] >= 0
        assert line["level"] == "info"


class TestOtherAddresses:
    def test_are_refused_without_users(self, keepers):
        error = keepers.fails("--host", "0.0.0.0")
        assert "rookery user add" in error["message"]
        assert "0.0.0.0" in error["message"]

    def test_a_wrong_proxy_is_said(self, keepers):
        assert "--trust-proxy" in keepers.fails("--trust-proxy", "nonsense")["message"]

    def test_with_a_user_they_are_served_and_logged_in_to(self, keepers, tmp_path, monkeypatch):
        from rookery.client import Client
        from rookery.client.config import find_workspace, keep_token
        from rookery.record import Record
        from rookery.spec.paths import WorkspacePaths

        record = Record(WorkspacePaths(keepers.root))
        record.people.add("ann", "contributor", "a long password", "test")
        record.close()
        _process, byte = keepers.start("--host", "0.0.0.0", "--prefix", "/rookery", "--log", "json")
        assert byte == b"1"
        url = f"http://127.0.0.1:{keepers.endpoint()['port']}/rookery"
        monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
        monkeypatch.delenv("ROOKERY_TOKEN", raising=False)
        made = Client.for_url(url).request(
            "POST", "/session/token", body={"name": "ann", "password": "a long password"}
        )
        kept = keep_token(url, made["token"])
        import os

        assert os.stat(kept).st_mode & 0o777 == 0o600
        config = tmp_path / "project" / ".azureml" / "config.json"
        config.parent.mkdir(parents=True)
        ids = {"subscription_id": "s", "resource_group": "g", "workspace_name": "coop"}
        config.write_text(json.dumps({**ids, "rookery": {"format": 1, "url": url}}))
        client = Client.for_address(find_workspace(str(config)))
        assert client.request("GET", "/me")["name"] == "ann"
        assert client.request("PUT", "/experiments/birds")["name"] == "birds"
        client.close()
