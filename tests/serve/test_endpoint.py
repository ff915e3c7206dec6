"""An endpoint from its making to its end, over HTTP."""

from __future__ import annotations

import json
import os
import re

import pytest

from rookery.errors import ConflictError, EndpointError, EndpointNotFoundError
from tests.serve.conftest import ask, raw, score


class TestLife:
    def test_made_asked_and_deleted(self, coop):
        made = coop.deploy(wait=False, tags={"team": "birds"}, description="an echo")
        assert (made["state"], made["operation"]["kind"], made["operation"]["state"]) == (
            "Transitioning",
            "create",
            "Running",
        )
        found = coop.settled()
        assert found["operation"]["state"] == "Succeeded", found
        assert (found["state"], found["error"], found["tags"]) == ("Healthy", None, {"team": "birds"})
        assert found["scoring_uri"] == f"http://127.0.0.1:{found['port']}/score"
        answered = score(found, {"a": 1})
        assert answered.status == 200
        assert answered.headers["Content-Type"] == "application/json"
        assert answered.json()["asked"] == {"a": 1}
        assert ask(f"http://127.0.0.1:{found['port']}/").body == b"Healthy"
        assert "init of" in coop.logs()
        [version] = found["versions"]
        assert version["replicas"][0]["pid"] == answered.json()["pid"]

        coop.ask("DELETE", "/endpoints/echo")
        assert not os.path.exists(f"/proc/{answered.json()['pid']}")
        assert not os.path.exists(coop.paths.served("echo").root)
        with pytest.raises(EndpointNotFoundError, match="Known: none"):
            coop.ask("GET", "/endpoints/echo")
        assert coop.ask("GET", "/endpoints") == {"endpoints": []}

    def test_a_name_that_is_taken(self, coop):
        first = coop.deploy()
        with pytest.raises(ConflictError, match="overwrite"):
            coop.deploy()
        coop.deploy(overwrite=True, config={"environment_variables": {"MY_VERSION": "2"}})
        found = coop.settled()
        assert found["port"] == first["port"]
        assert score(found, {}).json()["version"] == "2"

    def test_what_is_refused(self, coop):
        script = coop.script()
        for body, words in (
            ({"name": "no good"}, "no name of an endpoint"),
            ({"kind": "lambda"}, "local, aci, aks"),
            ({"config": {"num_replicas": 0}}, "from 1 to 32"),
            ({"config": {"scoring_timeout_ms": "long"}}, "must be a number"),
            ({"inference": None, "models": []}, "exactly one model"),
            ({"inference": {"entry_script": "other.py"}}, "lacks snapshot_id"),
            ({"inference": {**script, "entry_script": "other.py"}}, "It has score.py"),
            ({"port": 99999}, "65535"),
            ({"primary_key": "a b"}, "8 to 256"),
        ):
            with pytest.raises(EndpointError, match=words):
                coop.ask("POST", "/endpoints", {"name": "echo", "inference": script, **body})
        assert coop.ask("GET", "/endpoints") == {"endpoints": []}

    def test_an_init_that_fails_says_why(self, coop):
        broken = coop.script("def init():\n    raise KeyError('no weights')\n\ndef run(data):\n    return 1\n")
        found = coop.deploy(inference=broken)
        assert (found["state"], found["operation"]["state"]) == ("Failed", "Failed")
        assert "no weights" in found["error"]["summary"]
        assert any("score.py" in line for line in found["error"]["last_lines"])
        assert "no weights" in coop.logs()

    def test_a_failed_update_leaves_the_old_one(self, coop):
        coop.deploy()
        broken = coop.script("raise ImportError('nothing there')\n")
        coop.ask("PATCH", "/endpoints/echo", {"inference": broken})
        found = coop.settled()
        assert found["operation"]["state"] == "Failed"
        assert "nothing there" in found["operation"]["error"]["summary"]
        assert found["state"] == "Healthy"
        assert score(found, {"b": 2}).json()["asked"] == {"b": 2}
        assert found["versions"][0]["inference"] != broken


class TestScoring:
    def test_the_documented_answers(self, coop):
        found = coop.deploy(config={"max_body_mb": 1, "scoring_timeout_ms": 20000})
        answered = score(found, {"a": 1}, x_ms_client_request_id="mine", x_ms_request_id="theirs")
        assert answered.headers["x-ms-client-request-id"] == "mine"
        assert answered.headers["x-ms-request-id"] == "theirs"
        assert float(answered.headers["x-ms-run-fn-exec-ms"]) >= 0
        assert re.search(
            r"queue;dur=.*decode;dur=.*run;dur=.*encode;dur=.*total;dur=", answered.headers["Server-Timing"]
        )
        assert "x-ms-run-function-failed" not in answered.headers

        failed = score(found, {"raise": "a broken wing"})
        assert (failed.status, failed.text) == (500, "a broken wing")
        assert failed.headers["x-ms-run-function-failed"] == "True"

        url = found["scoring_uri"]
        assert ask(url, b"\xff\xfe rubbish").status == 400
        assert ask(url, b"rubbish", {"Content-Type": "application/json"}).status == 400
        assert ask(url, b"{}", {"x-ms-client-request-id": "x" * 101}).status == 431
        assert ask(url, b"x" * 2_000_000).status == 413
        assert ask(url, b"{}", method="DELETE").status == 405
        assert ask(url.replace("/score", "/nothing")).status == 404
        assert ask(url + "?a=1").json()["asked"] == {"a": "1"}
        assert ask(url, method="OPTIONS").status == 200
        assert score({"scoring_uri": f"http://127.0.0.1:{found['port']}/api/v1/service/echo/score"}, {}).status == 200
        for version, key in (("2", "swagger"), ("3", "openapi")):
            assert key in ask(found["swagger_uri"] + f"?version={version}").json()

    def test_what_is_no_http(self, coop):
        found = coop.deploy()
        for sent in (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST /score HTTP/1.1\r\nContent-Length: many\r\n\r\n",
            b"POST /score HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"POST /score HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"POST /score HTTP/1.1\r\nno header\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000,
        ):
            assert raw(found, sent)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431"), sent[:60]
        assert score(found, {}).status == 200

    def test_chunks_and_several_on_one_connection(self, coop):
        found = coop.deploy()
        chunked = b'POST /score HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n5\r\n": 1}\r\n0\r\n\r\n'
        last = b'POST /score HTTP/1.1\r\nContent-Length: 8\r\nConnection: close\r\n\r\n{"b": 2}'
        answered = raw(found, chunked + last)
        assert answered.count(b"HTTP/1.1 200 OK") == 2
        assert b'"asked":{"a":1}' in answered
        assert b'"asked":{"b":2}' in answered

    @pytest.mark.slow
    def test_over_the_time_limit(self, coop):
        found = coop.deploy(config={"scoring_timeout_ms": 4000})
        before = score(found, {}).json()["pid"]
        assert score(found, {"sleep": 60}).status == 504
        assert score(found, {}).json()["pid"] != before

    @pytest.mark.slow
    def test_no_room_in_the_queue(self, coop):
        found = coop.deploy(config={"max_request_wait_ms": 300, "scoring_timeout_ms": 60000, "max_queue": 1})
        answered = []
        import threading

        asking = [threading.Thread(target=lambda: answered.append(score(found, {"sleep": 3}).status)) for _ in range(5)]
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        assert set(answered) == {200, 503}
        assert score(found, {}).status == 200


class TestKeys:
    def test_keys_and_their_renewal(self, coop):
        found = coop.deploy(kind="aks", primary_key="a-key-of-mine")
        assert found["auth_enabled"]
        assert found["scoring_uri"].endswith("/api/v1/service/echo/score")
        assert score(found, {}).status == 401
        assert score(found, {}, Authorization="Bearer wrong").status == 401
        assert score(found, {}, Authorization="Bearer a-key-of-mine").status == 200
        keys = coop.ask("GET", "/endpoints/echo/keys")
        assert keys["primary"] == "a-key-of-mine"
        new = coop.ask("POST", "/endpoints/echo/keys", {"key": "Primary"})
        assert new["primary"] != keys["primary"]
        assert new["secondary"] == keys["secondary"]
        assert score(found, {}, Authorization="Bearer a-key-of-mine").status == 401
        for key in new.values():
            assert score(found, {}, Authorization=f"Bearer {key}").status == 200
        with pytest.raises(ConflictError, match="token_auth_enabled"):
            coop.ask("POST", "/endpoints/echo/token")

    def test_tokens(self, coop):
        found = coop.deploy(kind="aks", token_auth_enabled=True)
        token = coop.ask("POST", "/endpoints/echo/token")["access_token"]
        assert score(found, {}, Authorization=f"Bearer {token}").status == 200
        assert score(found, {}, Authorization=f"Bearer {token}x").status == 401
        assert (
            score(found, {}, Authorization=f"Bearer {coop.ask('GET', '/endpoints/echo/keys')['primary']}").status == 401
        )

    def test_at_the_keepers_address(self, coop):
        coop.deploy(kind="aks")
        with open(coop.paths.endpoint) as f:
            port = json.load(f)["port"]
        with open(coop.paths.token) as f:
            owner = f.read().strip()
        url = f"http://127.0.0.1:{port}/api/v1/service/echo/score"
        body = json.dumps({"a": 1}).encode()
        assert ask(url, body).status == 401
        assert ask(url, body, {"Authorization": "Bearer rubbish-key"}).status == 401
        answered = ask(url, body, {"Authorization": f"Bearer {owner}"})
        assert (answered.status, answered.json()["asked"]) == (200, {"a": 1})
        key = coop.ask("GET", "/endpoints/echo/keys")["secondary"]
        assert ask(url, body, {"Authorization": f"Bearer {key}"}).status == 200
        assert coop.client.raw("GET", "/service/echo")[2] == b"Healthy"
