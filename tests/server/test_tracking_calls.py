"""The calls that trackers make most often, which take a shorter way: what holds for all others holds for them."""

from __future__ import annotations

import threading

import pytest

from rookery.spec.run import RunKind, RunSpec
from tests.server.conftest import client_at

LOG = "/api/2.0/mlflow/runs/"


@pytest.fixture
def tracker(api):
    """A client at the root of the port; without a token unless one is given."""

    def tracker(token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        client = client_at(f"http://127.0.0.1:{api.port}", headers=headers)
        api.clients.append(client)
        return client

    return tracker


@pytest.fixture
def run(api):
    def run(run_id, parent=None):
        api.record.external.create(
            RunSpec(run_id, "birds", kind=RunKind.EXTERNAL, compute="external", parent_id=parent), "me"
        )
        return run_id

    return run


def metric(run_id, value=0.5, **more):
    return {"run_id": run_id, "key": "loss", "value": value, "timestamp": 1700000000000, "step": 0, **more}


def values(api, run_id, name="loss"):
    return [v for m in api.record.metrics.get(run_id, name) for v in m["values"]]


def code(answer):
    return answer.status_code, answer.json().get("error_code")


class TestStored:
    def test_an_answer_is_a_promise(self, api, tracker, run):
        client = tracker(api.record.tokens.make("", "track"))
        run("a")
        assert client.post(LOG + "log-metric", json=metric("a", 1.5)).json() == {}
        assert values(api, "a") == [1.5]
        batch = {
            "run_id": "a",
            "metrics": [{"key": "acc", "value": n, "timestamp": 1, "step": n} for n in range(3)]
            + [{"key": "loss", "value": "NaN"}],
            "params": [{"key": "lr", "value": "0.1"}],
            "tags": [{"key": "mlflow.runName", "value": "brisk"}, {"key": "who", "value": "me"}],
        }
        answer = client.post(LOG + "log-batch", json=batch)
        assert answer.json() == {}
        assert "x-rookery-version" in answer.headers
        assert "x-request-id" in answer.headers
        assert values(api, "a", "acc") == [0.0, 1.0, 2.0]
        kept = api.record.runs.get("a")
        assert (kept["params"], kept["tags"], kept["display_name"]) == ({"lr": "0.1"}, {"who": "me"}, "brisk")
        numbers = api.app.state.services.requests.counts
        assert numbers["POST", LOG + "log-metric", 200] == 1

    def test_a_large_body_goes_the_same_way(self, api, tracker, run):
        client = tracker(api.record.tokens.make("", "track"))
        run("a")
        padded = [{"key": "loss", "value": 1.0, "timestamp": 1, "step": n, "pad": "x" * 300} for n in range(1000)]
        assert client.post(LOG + "log-batch", json={"run_id": "a", "metrics": padded}).json() == {}
        assert len(values(api, "a")) == 1000

    def test_many_at_a_time(self, api, tracker, run):
        runs = [run(f"run-{n}") for n in range(4)]
        token = api.record.tokens.make("", "track")
        answers = []

        def write(number):
            client = tracker(token)
            for n in range(25):
                body = {**metric(runs[number % 4], n, step=n), "key": f"w{number}"}
                answers.append(client.post(LOG + "log-metric", json=body).status_code)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [200] * 200
        for number in range(8):
            assert values(api, runs[number % 4], f"w{number}") == [float(n) for n in range(25)]


class TestRefused:
    def test_whoever_may_not(self, api, tracker, run):
        run("a")
        api.record.people.add("rita", "reader", None, "owner")
        reader = tracker(api.record.people.make_token("rita", "t", 3600)["token"])
        for call, body in (
            ("log-metric", metric("a")),
            ("log-batch", {"run_id": "a", "metrics": [metric("a")]}),
            ("log-parameter", {"run_id": "a", "key": "k", "value": "v"}),
            ("set-tag", {"run_id": "a", "key": "k", "value": "v"}),
        ):
            assert code(tracker().post(LOG + call, json=body)) == (401, "UNAUTHENTICATED")
            assert code(tracker("rku_wrong").post(LOG + call, json=body)) == (401, "UNAUTHENTICATED")
            assert code(reader.post(LOG + call, json=body)) == (403, "PERMISSION_DENIED")
        assert api.record.metrics.get("a") == []
        assert (api.record.runs.get("a")["params"], api.record.runs.get("a")["tags"]) == ({}, {})

    def test_a_token_that_was_revoked_a_moment_ago(self, api, tracker, run):
        run("a")
        api.record.people.add("carla", "contributor", None, "owner")
        made = api.record.people.make_token("carla", "t", 3600)
        client = tracker(made["token"])
        assert client.post(LOG + "log-metric", json=metric("a", 1.0)).status_code == 200
        api.record.people.change("carla", role="reader")
        assert client.post(LOG + "log-metric", json=metric("a", 2.0)).status_code == 403
        api.record.people.change("carla", role="contributor")
        assert client.post(LOG + "log-metric", json=metric("a", 3.0)).status_code == 200
        api.record.people.revoke(made["id"])
        assert code(client.post(LOG + "log-metric", json=metric("a", 4.0))) == (401, "UNAUTHENTICATED")
        assert values(api, "a") == [1.0, 3.0]

    def test_a_runs_token_writes_to_its_family_only(self, api, tracker, run):
        run("mine"), run("child", "mine"), run("other")
        client = tracker(api.record.tokens.make("mine"))
        assert client.post(LOG + "log-metric", json=metric("mine")).status_code == 200
        assert client.post(LOG + "log-metric", json=metric("child")).status_code == 200
        assert (
            client.post(LOG + "log-metric", json={**metric(""), "run_id": None, "run_uuid": "mine"}).status_code == 200
        )
        for body in (metric("other"), metric("nowhere"), {**metric("other"), "run_uuid": "mine"}):
            assert code(client.post(LOG + "log-metric", json=body)) == (403, "PERMISSION_DENIED")
        assert api.record.metrics.get("other") == []

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            (b"{", 400, "BAD_REQUEST"),
            (b"[" * 100_000, 400, "BAD_REQUEST"),
            (b"[1]", 400, "INVALID_PARAMETER_VALUE"),
            (b"", 400, "INVALID_PARAMETER_VALUE"),
            (b'{"run_id": "a"}', 400, "INVALID_PARAMETER_VALUE"),
            (b'{"run_id": "nowhere", "key": "k", "value": 1}', 404, "RESOURCE_DOES_NOT_EXIST"),
            (b'{"run_id": "a", "key": "k", "value": "soon"}', 400, "INVALID_PARAMETER_VALUE"),
            (b'{"run_id": "a", "key": "k", "value": 1.0, "step": 9223372036854775808, "timestamp": 1}', 400, "INVALID_PARAMETER_VALUE"),
            (b'{"run_id": "a", "key": "../k", "value": 1.0, "step": 0, "timestamp": 1}', 400, "INVALID_PARAMETER_VALUE"),
            (b'{"run_id": {"a": 1}, "key": "k", "value": 1}', 400, "INVALID_PARAMETER_VALUE"),
        ],
    )  # fmt: skip
    def test_rubbish(self, api, tracker, run, body, status, error):
        run("a")
        client = tracker(api.record.tokens.make("", "track"))
        headers = {"Content-Type": "application/json"}
        assert code(client.post(LOG + "log-metric", content=body, headers=headers)) == (status, error)
        assert api.record.metrics.get("a") == []

    def test_what_the_record_refuses_is_said_in_their_words(self, api, tracker, run):
        run("a")
        client = tracker(api.record.tokens.make("", "track"))
        param = {"run_id": "a", "key": "lr", "value": "1"}
        assert client.post(LOG + "log-parameter", json=param).status_code == 200
        assert client.post(LOG + "log-parameter", json=param).status_code == 200
        answer = client.post(
            LOG + "log-batch", json={"run_id": "a", "params": [{"key": "lr", "value": "2"}], "metrics": [metric("a")]}
        )
        assert code(answer) == (400, "INVALID_PARAMETER_VALUE")
        assert "Changing param values is not allowed" in answer.json()["message"]
        assert api.record.metrics.get("a") == []  # whole or not at all
        api.record.external.delete("a")
        answer = client.post(LOG + "log-metric", json=metric("a"))
        assert code(answer) == (400, "INVALID_PARAMETER_VALUE")
        assert "'active' state" in answer.json()["message"]

    def test_a_full_disk_is_said_and_nothing_is_stored(self, api, tracker, run, monkeypatch):
        from rookery.errors import StorageError

        run("a")
        client = tracker(api.record.tokens.make("", "track"))

        def full(self, tx):
            raise StorageError("The disk is full.")

        with monkeypatch.context() as patch:
            patch.setattr("rookery.record.metric_batch.MetricBatch.write", full)
            assert code(client.post(LOG + "log-metric", json=metric("a"))) == (507, "RESOURCE_EXHAUSTED")
        assert client.post(LOG + "log-metric", json=metric("a", 2.0)).status_code == 200
        assert values(api, "a") == [2.0]
