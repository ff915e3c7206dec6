"""What happened elsewhere, told by whoever brings it: good bodies once, twice; bad ones refused in words."""

from __future__ import annotations

import base64
import hashlib
import json
import struct

import pytest

RUN = {"run_id": "p-1", "experiment": "old", "status": "Completed"}
LOGGED = {"id": "m-1", "experiment": "old", "status": "ready"}


def numbers(code, *values):
    return base64.b64encode(struct.pack(f"<{len(values)}{code}", *values)).decode()


def block(*values, at=0, **more):
    packed = {"values": numbers("d", *values), "times": numbers("d", *[5.0] * len(values)), "steps": None}
    return {"name": "loss", "at": at, "n": len(values), "dtype": "d", **packed, **more}


@pytest.fixture
def old(api):
    """An experiment that was brought here."""
    assert api.owner.post("/past/experiments", json={"name": "old", "created_ms": 1000}).json()["is_new"]
    return api


@pytest.fixture
def run(old):
    assert old.owner.post("/past/runs", json=RUN).status_code == 200
    return old


class TestGood:
    def test_a_run_with_everything_twice(self, old):
        body = {
            **RUN, "display_name": "old one", "description": "d", "user": "ann", "began_ms": 1_000_000, "ended_ms": 2_000_000,
            "tags": {"a": "b", "n": 1}, "params": {"lr": "0.1"}, "parent_id": "gone for good",
            "inputs": [{"direction": "in", "kind": "dataset", "name": "birds", "digest": "x", "context": "training", "data": {"a": [1]}}],
        }  # fmt: skip
        first = old.owner.post("/past/runs", json=body).json()
        again = old.owner.post("/past/runs", json=body).json()
        assert (first["is_new"], again["is_new"]) == (True, False)
        for answer in (first, again):
            assert (answer["tags"], answer["params"], answer["inputs"]) == (2, 1, 1)
        run = old.owner.get("/runs/p-1").json()
        assert (run["status"], run["kind"], run["display_name"]) == ("Completed", "external", "old one")
        assert run["ended_utc"].startswith("1970-01-01T00:33:20")

    def test_values_are_added_once(self, run):
        at = "/past/runs/p-1/values"
        assert run.owner.post(at, json={"blocks": [block(1.0, 2.0)]}).json() == {"values": {"loss": 2}}
        assert run.owner.post(at, json={"blocks": [block(1.0, 2.0)]}).json() == {"values": {"loss": 2}}
        assert run.owner.post(at, json={"blocks": [block(3.0, at=2)]}).json() == {"values": {"loss": 3}}
        gap = run.owner.post(at, json={"blocks": [block(9.0, at=7)]})
        assert (gap.status_code, gap.json()["error"]["details"]["count"]) == (409, 3)
        assert run.owner.get("/runs/p-1/metrics").json()["metrics"][0]["values"] == [1.0, 2.0, 3.0]

    def test_models(self, run):
        sha256 = hashlib.sha256(b"weights").hexdigest()
        run.owner.put("/content/" + sha256, content=b"weights")
        metric = {"key": "f1", "value": 0.5, "step": 3, "time_ms": 7, "run_id": "p-1"}
        body = {
            **LOGGED,
            "name": "net",
            "created_ms": 5,
            "metrics": [metric],
            "files": [{"path": "w.pt", "sha256": sha256}],
        }
        for _ in range(2):
            answer = run.owner.post("/past/logged-models", json=body).json()
            assert answer == {"metrics": 1, "sizes": {"w.pt": 7}}
        version = {"version": 3, "created_ms": 9, "files_of_model": "m-1", "run_id": "p-1"}
        named = {"name": "birds", "versions": [version], "aliases": {"best": 3}}
        for _ in range(2):
            answer = run.owner.post("/past/models", json=named).json()
            assert answer == {"versions": [3], "aliases": {"best": 3}}
        assert run.owner.get("/models/birds/3/files/net/w.pt").content == b"weights"
        other = run.owner.post("/past/models", json={**named, "versions": [{**version, "created_ms": 10_000}]})
        assert other.status_code == 409


BAD = [
    ("experiments", b"", 400),
    ("experiments", b"[]", 400),
    ("experiments", b"[" * 50_000, 400),
    ("experiments", {}, 422),
    ("experiments", {"name": 5}, 422),
    ("experiments", {"name": ""}, 400),
    ("experiments", {"name": "x", "tags": []}, 422),
    ("experiments", {"name": "x", "tags": {"": "y"}}, 400),
    ("experiments", {"name": "x", "created_ms": "yesterday"}, 422),
    ("experiments", {"name": "x", "created_ms": -1}, 422),
    ("experiments", {"name": "x", "created_ms": 2**60}, 422),
    ("runs", {"run_id": "p-1"}, 422),
    ("runs", {**RUN, "run_id": "../x"}, 400),
    ("runs", {**RUN, "run_id": None}, 422),
    ("runs", {**RUN, "run_id": "p-2", "experiment": "never brought"}, 400),
    ("runs", {**RUN, "status": "Dancing"}, 400),
    ("runs", {**RUN, "status": ["Completed"]}, 422),
    ("runs", {**RUN, "began_ms": 1.5}, 422),
    ("runs", {**RUN, "ended_ms": {}}, 422),
    ("runs", {**RUN, "parent_id": {"a": 1}}, 422),
    ("runs", {**RUN, "tags": "many"}, 422),
    ("runs", {**RUN, "params": [["lr", 1]]}, 422),
    ("runs", {**RUN, "inputs": {"direction": "in"}}, 422),
    ("runs", {**RUN, "inputs": [{}]}, 422),
    ("runs", {**RUN, "inputs": ["birds"]}, 422),
    ("runs", {**RUN, "inputs": [{"direction": "in", "kind": "dataset", "name": 3}]}, 422),
    ("runs", {**RUN, "inputs": [{"direction": "in", "kind": "dataset", "name": "x", "data": "text"}]}, 422),
    ("runs/p-1/values", {}, 422),
    ("runs/p-1/values", {"blocks": {}}, 422),
    ("runs/p-1/values", {"blocks": [[]]}, 422),
    ("runs/p-1/values", {"blocks": [block(1.0, at=-1)]}, 422),
    ("runs/p-1/values", {"blocks": [block(1.0, at="0")]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, at=2**70)]}, 422),
    ("runs/p-1/values", {"blocks": [block(1.0, name="")]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, name=None)]}, 422),
    ("runs/p-1/values", {"blocks": [block(1.0, n=2)]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, n=10**12)]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, dtype="x")]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, values="not base64!")]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, values={"a": 1})]}, 400),
    ("runs/p-1/values", {"blocks": [block(1.0, times=numbers("d", 1.0, 2.0))]}, 400),
    ("runs/nobody/values", {"blocks": [block(1.0)]}, 404),
    ("logged-models", {"id": "m-1"}, 422),
    ("logged-models", {**LOGGED, "id": ""}, 400),
    ("logged-models", {**LOGGED, "experiment": "never brought"}, 400),
    ("logged-models", {**LOGGED, "status": "dancing"}, 400),
    ("logged-models", {**LOGGED, "created_ms": "x"}, 422),
    ("logged-models", {**LOGGED, "metrics": [{"key": "f1"}]}, 422),
    ("logged-models", {**LOGGED, "metrics": [{"key": "f1", "value": "much", "time_ms": 1}]}, 422),
    ("logged-models", {**LOGGED, "metrics": [{"key": "f1", "value": 1, "time_ms": 1, "step": 2**64}]}, 422),
    ("logged-models", {**LOGGED, "files": ["w.pt"]}, 422),
    ("logged-models", {**LOGGED, "files": [{"path": "../w.pt", "sha256": "0" * 64}]}, 400),
    ("logged-models", {**LOGGED, "files": [{"path": "w.pt", "sha256": "0" * 64}]}, 404),
    ("models", {}, 422),
    ("models", {"name": "x/y"}, 400),
    ("models", {"name": "x", "versions": 3}, 422),
    ("models", {"name": "x", "versions": [3]}, 422),
    ("models", {"name": "x", "versions": [{}]}, 422),
    ("models", {"name": "x", "versions": [{"version": 0}]}, 422),
    ("models", {"name": "x", "versions": [{"version": 2**40}]}, 422),
    ("models", {"name": "x", "versions": [{"version": 1, "files_of_run": "p-1", "path": "../x"}]}, 400),
    ("models", {"name": "x", "aliases": ["best"]}, 422),
    ("models", {"name": "x", "aliases": {"best": "first"}}, 422),
    ("models", {"name": "x", "aliases": {"best": 7}}, 404),
]  # fmt: skip


class TestBad:
    def test_is_refused_and_leaves_nothing(self, run):
        before = state(run)
        for path, body, status in BAD:
            kind = {"content": body} if isinstance(body, bytes) else {"json": body}
            response = run.owner.post("/past/" + path, **kind)
            where = f"{path} {str(body)[:200]}: {response.status_code} {response.text[:300]}"
            assert response.status_code == status, where
            assert set(response.json()["error"]) == {"code", "message", "details"}, where
            assert len(response.json()["error"]["message"]) > 15, where
        assert state(run) == before

    @pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "x" * 5000])
    def test_texts_that_no_database_holds(self, old, text):
        """They are cleaned or refused; never an error of ours."""
        for path, body in (
            ("experiments", {"name": text}),
            ("experiments", {"name": "fine", "tags": {text: text}}),
            ("runs", {**RUN, "display_name": text, "description": text, "user": text, "parent_id": text}),
            ("runs", {**RUN, "inputs": [{"direction": text, "kind": text, "name": text, "digest": text, "context": text}]}),
            ("runs", {**RUN, "tags": {text: text}, "params": {text: text}}),
            ("logged-models", {**LOGGED, "name": text, "model_type": text, "run_id": text}),
            ("logged-models", {**LOGGED, "metrics": [{"key": text, "value": 1, "time_ms": 1, "dataset_name": text, "run_id": "p-1"}]}),
            ("models", {"name": "x", "description": text, "versions": [{"version": 1, "source": text, "created_by": text}]}),
        ):  # fmt: skip
            sent = json.dumps(body)  # httpx itself would stumble over half a character
            assert old.owner.post("/past/" + path, content=sent).status_code < 500, (path, sent[:200])

    def test_a_run_of_this_workspace_is_left_alone(self, old):
        old.run("run-1")
        response = old.owner.post("/past/runs", json={**RUN, "run_id": "run-1"})
        assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")


def state(api):
    """Everything that could have been changed."""
    return [
        api.owner.get(path).json()
        for path in ("/experiments?view=all", "/runs?include_children=true", "/runs/p-1/metrics", "/models")
    ]
