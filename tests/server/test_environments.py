from __future__ import annotations

import hashlib
import json
import sys
import threading
import time

from rookery.spec.plain import to_plain
from rookery.spec.run import MASK, EnvironmentSpec
from tests.server.conftest import run_spec


def spec(python=sys.executable, **fields):
    return to_plain(EnvironmentSpec(name="mine", user_managed=True, python=python, **fields))


def events(response):
    """(event, id, data) of a stream that ends by itself."""
    found = []
    for block in response.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], int(fields["id"]), json.loads(fields["data"])))
    return found


def ended(api, build_id):
    deadline = time.monotonic() + 60
    while True:
        build = api.owner.get(f"/environments/builds/{build_id}").json()
        if build["status"] != "Running":
            return build
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestRegistry:
    def test_register_get_list_label(self, api):
        body = {"definition": {"name": "mine", "python": {"interpreterPath": "python"}}}
        first = api.owner.post("/environments", json=body)
        assert (first.status_code, first.json()["version"]) == (201, "1")
        assert api.owner.post("/environments", json=body).status_code == 200
        body["definition"]["docker"] = {"baseImage": "x"}
        assert api.owner.post("/environments", json=body).json()["version"] == "2"
        api.owner.post("/environments/mine/labels", json={"version": 1, "labels": ["prod"]}).raise_for_status()
        assert api.owner.get("/environments/mine", params={"label": "prod"}).json()["version"] == "1"
        assert api.owner.get("/environments/mine").json()["definition"]["docker"] == {"baseImage": "x"}
        assert [e["version"] for e in api.owner.get("/environments?name=mine").json()["environments"]] == ["2", "1"]

    def test_curated_ones_are_listed_and_read_only(self, api):
        found = {e["name"]: e for e in api.owner.get("/environments").json()["environments"]}
        assert found["AzureML-PyTorch-1.6-GPU"]["curated"] is True
        assert found["AzureML-PyTorch-1.6-GPU"]["maps_to"]
        one = api.owner.get("/environments/AzureML-Minimal?version=1").json()
        assert one["definition"]["name"] == "AzureML-Minimal"
        for path, body in (
            ("/environments", {"definition": one["definition"]}),
            ("/environments/AzureML-Minimal/labels", {"version": "1", "labels": ["x"]}),
        ):
            refused = api.owner.post(path, json=body)
            assert (refused.status_code, "clone" in refused.text) == (400, True)

    def test_an_edited_curated_one_does_not_run(self, api):
        software = to_plain(EnvironmentSpec(name="AzureML-Minimal", python="python", conda={"dependencies": ["numpy"]}))
        refused = api.owner.post("/runs", json={**run_spec(), "environment": software})
        assert (refused.status_code, "clone" in refused.json()["error"]["message"]) == (400, True)

    def test_a_run_may_register_and_build_but_not_label(self, api, token):
        api.run()
        client = api.tcp(token())
        assert client.post("/environments", json={"definition": {"name": "mine"}}).status_code == 201
        assert client.post("/environments/prepared", json={"spec": spec()}).status_code == 200
        assert client.post("/environments/mine/labels", json={"version": "1", "labels": ["x"]}).status_code == 403
        assert client.post("/wheels", json={"name": "x", "sha256": "y"}).status_code == 403


class TestBuilds:
    def test_a_build_without_a_run(self, api, tmp_path):
        python = tmp_path / "my python"
        python.symlink_to(sys.executable)
        started = api.owner.post("/environments/builds", json={"spec": spec(str(python))})
        assert started.status_code == 202
        build = ended(api, started.json()["id"])
        assert (build["status"], build["error"]) == ("Succeeded", "")
        assert build["built"]["python"] == str(python)
        log = api.owner.get(f"/environments/builds/{build['id']}/log")
        assert log.content.startswith(b"Environment 'mine'\n")
        assert int(log.headers["X-Log-Size"]) == len(log.content) == build["log_size"]
        rest = api.owner.get(f"/environments/builds/{build['id']}/log", params={"offset": 12})
        assert rest.content == log.content[12:]
        assert api.owner.post("/environments/prepared", json={"spec": spec(str(python))}).json()["built"]

    def test_a_failure_says_why(self, api):
        build = api.owner.post("/environments/builds", json={"spec": spec("/nowhere/python")}).json()
        build = ended(api, build["id"])
        assert build["status"] == "Failed"
        assert "/nowhere/python" in build["error"]
        assert b"Failed: " in api.owner.get(f"/environments/builds/{build['id']}/log").content
        assert api.owner.post("/environments/prepared", json={"spec": spec("/nowhere/python")}).json() == {
            "built": None
        }

    def test_events_are_the_log_then_the_end_and_resume_at_an_offset(self, api, monkeypatch):
        go = threading.Event()
        monkeypatch.setattr(
            "rookery.environments.prepare",
            lambda spec, log, **_: (log(b"one \xff\n"), go.wait(60), log(b"two\n"), 1 / 0),
        )
        build_id = api.owner.post("/environments/builds", json={"spec": spec()}).json()["id"]
        seen = []
        reader = threading.Thread(
            target=lambda: seen.extend(events(api.owner.get(f"/environments/builds/{build_id}/events")))
        )
        reader.start()
        go.set()
        reader.join(60)
        assert [kind for kind, _, _ in seen if kind != "log"] == ["status", "end"]
        assert seen[-2][2]["status"] == "Failed"
        log = api.owner.get(f"/environments/builds/{build_id}/log").content
        assert seen[-3][1] == len(log)
        later = events(api.owner.get(f"/environments/builds/{build_id}/events", params={"after": len(log) - 4}))
        assert later[0][2] == {"build": build_id, "offset": len(log) - 4, "text": log[-4:].decode()}

    def test_the_same_specification_is_built_once(self, api, monkeypatch):
        go, calls = threading.Event(), []

        def prepare(spec, log, **_):
            calls.append(spec)
            assert go.wait(60)
            raise AssertionError("over")

        monkeypatch.setattr("rookery.environments.prepare", prepare)
        ids = {
            api.owner.post("/environments/builds", json={"spec": spec(variables={"A": str(i)}, version=str(i))}).json()[
                "id"
            ]
            for i in range(5)
        }
        assert len(ids) == 1
        assert api.app.state.services.builds.count() == 1
        go.set()
        ended(api, ids.pop())
        assert len(calls) == 1
        deadline = time.monotonic() + 60
        while api.app.state.services.builds.count():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def test_what_a_dead_keeper_left_is_taken_up(self, api):
        from rookery.engine.builds import Builds

        build, _ = api.record.builds.begin("k", spec(), "me")
        builds = Builds(api.record)
        builds.start()
        assert ended(api, build["id"])["status"] == "Succeeded"
        builds.stop()


class TestWheels:
    def test_is_content_with_a_name(self, api):
        data = b"not really a wheel"
        sha256 = hashlib.sha256(data).hexdigest()
        api.owner.put(f"/content/{sha256}", content=data).raise_for_status()
        body = {"name": "chick-1.0-py3-none-any.whl", "sha256": sha256}
        made = api.owner.post("/wheels", json=body)
        assert made.status_code == 201
        assert made.json()["url"].startswith("file:///")
        assert api.owner.post("/wheels", json=body).status_code == 409
        assert api.owner.post("/wheels", json={**body, "exist_ok": True}).json() == made.json()


class TestSecrets:
    def test_never_come_back(self, api):
        body = {**run_spec(variables={"TOKEN": MASK}, secrets=("TOKEN",)), "secret_values": {"TOKEN": "hidden words"}}
        made = api.owner.post("/runs", json=body)
        assert made.status_code == 201
        assert "hidden words" not in made.text + api.owner.get("/runs/run-1").text
        assert api.record.secrets.of_run("run-1") == {"TOKEN": "hidden words"}
        again = api.owner.post("/runs", json=body)
        assert again.status_code == 200

    def test_of_a_registered_environment_neither(self, api):
        definition = {"name": "mine", "environmentVariables": {"TOKEN": MASK}}
        made = api.owner.post(
            "/environments", json={"definition": definition, "secret_values": {"TOKEN": "hidden words"}}
        )
        assert made.status_code == 201
        assert "hidden words" not in made.text + api.owner.get("/environments").text
