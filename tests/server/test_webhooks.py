"""Webhooks against a real receiver."""

from __future__ import annotations

import hashlib
import hmac
import http.server
import json
import threading
import time

import pytest

from rookery.spec.status import RunStatus


class Receiver:
    """Answers with the next of `answers` (200 when there are none left) and keeps what came."""

    def __init__(self):
        self.came, self.answers = [], []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.came.append((dict(self.headers), body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?x=1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def events(self):
        return [json.loads(body)["event"] for _, body in self.came]

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def receiver(monkeypatch):
    monkeypatch.setenv("ROOKERY_WEBHOOK_RETRY_S", "0.05")
    made = Receiver()
    yield made
    made.stop()


@pytest.fixture
def hooked(api, receiver):
    made = api.owner.post("/webhooks", json={"url": receiver.url, "events": ["run.completed", "model.registered"]})
    assert made.status_code == 201, made.text
    yield made.json()
    api.app.state.services.webhooks.stop()


def wait_for(condition, timeout_s=60):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def deliveries(api, hook):
    return api.owner.get(f"/webhooks/{hook['id']}/deliveries").json()["deliveries"]


class TestWebhooks:
    def test_are_told_of_what_they_asked_for_signed(self, api, receiver, hooked):
        api.run()
        api.record.runs.advance("run-1", status=RunStatus.RUNNING)
        api.record.runs.advance("run-1", status=RunStatus.COMPLETED)
        api.owner.put("/runs/run-1/artifacts/m.pt", content=b"m")
        api.owner.post("/models", json={"name": "net", "run_id": "run-1", "path": "m.pt"})
        api.owner.patch("/models/net/1", json={"description": "a change is no registration"})
        api.owner.put("/model-names/net/aliases/best", json={"version": 1})
        api.run("run-2")
        api.record.runs.advance("run-2", status=RunStatus.RUNNING)
        api.record.runs.advance("run-2", status=RunStatus.COMPLETED)
        wait_for(lambda: len(receiver.came) == 3)
        assert receiver.events() == ["run.completed", "model.registered", "run.completed"]
        headers, body = receiver.came[0]
        told = json.loads(body)
        assert told["data"]["run"]["id"] == "run-1"
        assert told["data"]["run"]["status"] == "Completed"
        assert told["workspace"]["name"] == "coop"
        signed = f"{headers['X-Rookery-Timestamp']}.".encode() + body
        expected = "v1=" + hmac.new(hooked["secret"].encode(), signed, hashlib.sha256).hexdigest()
        assert headers["X-Rookery-Signature"] == expected
        assert abs(int(headers["X-Rookery-Timestamp"]) - time.time()) < 60
        wait_for(lambda: {d["state"] for d in deliveries(api, hooked)} == {"delivered"})
        assert "secret" not in api.owner.get("/webhooks").json()["webhooks"][0]

    def test_what_fails_is_tried_again_and_redirects_are_not_followed(self, api, receiver, hooked):
        receiver.answers[:] = [500, 302]
        api.owner.post(f"/webhooks/{hooked['id']}/ping")
        wait_for(lambda: deliveries(api, hooked)[0]["state"] == "delivered")
        assert deliveries(api, hooked)[0]["tries"] == 3
        assert len(receiver.came) == 3
        assert len({headers["X-Rookery-Delivery"] for headers, _ in receiver.came}) == 1

    def test_what_is_left_is_sent_after_a_restart_once(self, api, receiver):
        """Events that came while nobody sent."""
        hook = api.record.webhooks.add(receiver.url, ["run.canceled"], "test")
        api.run()
        api.record.runs.advance("run-1", status=RunStatus.CANCELED)
        assert api.record.webhooks.collect() == 1
        assert api.record.webhooks.collect() == 0
        api.app.state.services.webhooks.start()
        wait_for(lambda: deliveries(api, hook)[0]["state"] == "delivered")
        api.app.state.services.webhooks.stop()
        assert receiver.events() == ["run.canceled"]

    @pytest.mark.parametrize(
        "url", ["ftp://x/y", "file:///etc/passwd", "http://", "x", "javascript:alert(1)", "http://a b/"]
    )
    def test_other_addresses_are_refused(self, api, url):
        assert api.owner.post("/webhooks", json={"url": url, "events": ["run.failed"]}).status_code == 400

    def test_unknown_events_are_refused_with_the_known(self, api):
        for events in (["run.exploded"], []):
            refused = api.owner.post("/webhooks", json={"url": "http://x/", "events": events})
            assert refused.status_code == 400
            assert "model.registered" in refused.json()["error"]["message"]

    def test_no_thread_without_a_webhook(self, api):
        api.app.state.services.webhooks.start()
        assert api.app.state.services.webhooks._thread is None
