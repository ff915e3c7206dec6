from __future__ import annotations

import hashlib
import io
import os
import stat
import threading
import time
import zipfile

from tests.server.conftest import run_spec

LOG = "azureml-logs/70_driver_log.txt"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def details_of(response):
    """The details of an error, without the id that every request has of its own."""
    details = response.json()["error"]["details"]
    assert details.pop("request_id") == response.headers["X-Request-Id"]
    return details


class TestRuns:
    def test_create_is_idempotent(self, api):
        first = api.owner.post("/runs", json=run_spec())
        again = api.owner.post("/runs", json=run_spec())
        other = api.owner.post("/runs", json=run_spec(arguments=("--x",)))
        assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
        assert again.json()["id"] == "run-1"
        assert again.json()["status"] == "Queued"
        assert api.owner.get("/experiments/birds").json()["run_count"] == 1
        (listed,) = api.owner.get("/experiments").json()["experiments"]
        assert (listed["shown_count"], listed["child_count"]) == (1, 0)

    def test_what_can_never_fit_is_refused_before_it_exists(self, api):
        api.owner.post("/compute", json={"name": "gpu", "spec": {"max_nodes": 2}})
        response = api.owner.post("/runs", json=run_spec(compute="gpu", node_count=3))
        assert (response.status_code, response.json()["error"]["code"]) == (400, "compute")
        assert api.owner.get("/runs/run-1").status_code == 404

    def test_change_cancel_status_children(self, api):
        api.run(properties={"p": "1"})
        api.run("kid", kind="child", parent_id="run-1")
        changed = api.owner.patch(
            "/runs/run-1", json={"display_name": "n", "tags": {"a": 1}, "properties": {"q": "2"}}
        ).json()
        assert (changed["display_name"], changed["tags"], changed["properties"]) == (
            "n",
            {"a": "1"},
            {"p": "1", "q": "2"},
        )
        assert api.owner.patch("/runs/run-1", json={"properties": {"p": "2"}}).status_code == 409
        assert api.owner.post("/runs/run-1/status", json={"status": "Completed"}).status_code == 409
        assert api.owner.post("/runs/kid/status", json={"status": "Dancing"}).status_code == 400
        failed = api.owner.post("/runs/kid/status", json={"status": "Failed", "error": "no luck"}).json()
        assert (failed["status"], failed["error"]["summary"]) == ("Failed", "no luck")
        assert api.owner.post("/runs/kid/status", json={"status": "Running"}).status_code == 409
        assert [r["id"] for r in api.owner.get("/runs/run-1/children").json()["runs"]] == ["kid"]
        assert api.owner.post("/runs/run-1/cancel").json()["status"] == "Canceled"
        assert api.owner.post("/runs/run-1/cancel").status_code == 202
        page = api.owner.get(
            "/runs", params={"include_children": True, "status": ["Failed", "Canceled"], "limit": 1}
        ).json()
        assert [r["id"] for r in page["runs"]] == ["kid"]
        page = api.owner.get("/runs", params={"include_children": True, "cursor": page["cursor"]}).json()
        assert ([r["id"] for r in page["runs"]], page["cursor"]) == (["run-1"], None)

    def test_metrics_with_not_a_number(self, api):
        api.run()
        api.owner.post(
            "/runs/run-1/records",
            content=b'{"records":[["m",null,"loss",NaN,1,5.0],["m",null,"loss",-Infinity,2,6.0]]}',
        )
        response = api.owner.get("/runs/run-1/metrics", params={"name": "loss"})
        assert '"values":[NaN,-Infinity]' in response.text
        assert '"steps":[1,2]' in response.text

    def test_workspace_and_keeper(self, api, storage):
        api.owner.patch("/workspace", json={"friendly_name": "Coop", "tags": {"a": "b"}})
        workspace = api.owner.get("/workspace").json()
        assert (workspace["name"], workspace["friendly_name"], workspace["tags"]) == (
            "coop",
            "Coop",
            {"a": "b"},
        )
        assert (workspace["disk_bytes"] > 0) == (storage == "sqlite")  # else there is nothing of it on this disk
        keeper = api.owner.get("/keeper").json()
        assert keeper["pid"] == os.getpid()
        assert keeper["memory_bytes"] > 1_000_000


class TestFiles:
    def test_artifacts_with_ranges_and_logs_behind_them(self, api):
        api.run()
        data = os.urandom(700_000)
        put = api.owner.put(
            "/runs/run-1/artifacts/outputs/a b%25.bin", content=data, headers={"X-Content-SHA256": sha(data)}
        )
        assert put.status_code == 201
        assert put.json() == {
            "name": "outputs/a b%.bin",
            "sha256": sha(data),
            "size": len(data),
            "modified_utc": put.json()["modified_utc"],
        }
        url = "/runs/run-1/artifacts/outputs/a b%25.bin"
        assert api.owner.get(url).content == data
        for header, status, part in (
            ("bytes=0-9", 206, data[:10]), ("bytes=699990-", 206, data[-10:]), ("bytes=-5", 206, data[-5:]),
            ("bytes=5-99999999", 206, data[5:]), ("bytes=0-1,3-4", 200, data), ("lines=1", 200, data),
        ):  # fmt: skip
            response = api.owner.get(url, headers={"Range": header})
            assert (response.status_code, response.content) == (status, part), header
        beyond = api.owner.get(url, headers={"Range": "bytes=700000-"})
        assert (beyond.status_code, beyond.json()["error"]["code"]) == (416, "user_error")
        assert api.owner.get(url, headers={"Range": "bytes=0-9"}).headers["Content-Range"] == "bytes 0-9/700000"
        api.owner.post("/agent/run-1/1/0/log", params={"name": LOG, "offset": 0}, content=b"hello")
        assert api.owner.get("/runs/run-1/artifacts/user_logs/std_log.txt").content == b"hello"
        assert [
            a["name"] for a in api.owner.get("/runs/run-1/artifacts", params={"prefix": "outputs"}).json()["artifacts"]
        ] == ["outputs/a b%.bin"]
        missing = api.owner.get("/runs/run-1/artifacts/nope")
        assert missing.status_code == 404
        assert "outputs/a b%.bin" in missing.json()["error"]["message"]

    def test_a_wrong_hash_and_a_link(self, api):
        api.run()
        bad = api.owner.put("/runs/run-1/artifacts/x", content=b"abc", headers={"X-Content-SHA256": "0" * 64})
        assert bad.status_code == 409
        assert api.owner.post("/runs/run-1/artifacts", json={"name": "x", "sha256": sha(b"abc")}).status_code == 404
        assert api.owner.put("/content/" + sha(b"abc"), content=b"abc").status_code == 201
        assert api.owner.post("/runs/run-1/artifacts", json={"name": "x", "sha256": sha(b"abc")}).status_code == 201
        assert api.owner.get("/content/" + sha(b"abc")).content == b"abc"

    def test_log_parts(self, api):
        api.run()

        def post(offset, data):
            return api.owner.post("/agent/run-1/1/0/log", params={"name": LOG, "offset": offset}, content=data)

        assert post(0, b"0123").json() == {"ack": 4}
        assert post(0, b"0123").json() == {"ack": 4}
        assert post(2, b"23456").json() == {"ack": 7}
        gap = post(9, b"x")
        assert (gap.status_code, details_of(gap)) == (409, {"offset": 7})
        part = api.owner.get(f"/runs/run-1/logs/{LOG}", params={"offset": 2, "length": 3})
        assert (part.content, part.headers["X-Log-Size"]) == (b"234", "7")
        assert api.owner.get("/runs/run-1/logs/user_logs/std_log.txt", params={"offset": 99}).content == b""
        assert api.owner.get("/runs/run-1/logs").json() == {"logs": [{"name": LOG, "size": 7}]}

    def test_snapshot_pack_and_zip(self, api):
        files = {"a.py": b"print()", "sub/b.bin": os.urandom(2_500_000), "empty": b""}
        pack = b"".join(sha(d).encode() + b"%016x" % len(d) + d for d in files.values())
        assert api.owner.post("/content/missing", json={"sha256": [sha(d) for d in files.values()]}).json()[
            "missing"
        ] == [sha(d) for d in files.values()]
        assert api.owner.post("/content/pack", content=pack).json() == {"files": 3}
        assert api.owner.post("/content/missing", json={"sha256": [sha(d) for d in files.values()]}).json() == {
            "missing": []
        }
        entries = [{"path": p, "sha256": sha(d), "size": len(d), "mode": 0o755, "link": None} for p, d in files.items()]
        entries.append({"path": "sub/l", "sha256": "", "size": 0, "mode": 0o777, "link": "../a.py"})
        made = api.owner.post("/snapshots", json={"entries": entries}).json()
        assert made["files"] == 4
        assert api.owner.head(f"/snapshots/{made['id']}").status_code == 200
        assert api.owner.head("/snapshots/" + "0" * 64).status_code == 404
        assert len(api.owner.get(f"/snapshots/{made['id']}").json()["entries"]) == 4
        with zipfile.ZipFile(io.BytesIO(api.owner.get(f"/snapshots/{made['id']}/zip").content)) as archive:
            assert archive.testzip() is None
            assert {n: archive.read(n) for n in files} == files
            assert stat.S_ISLNK(archive.getinfo("sub/l").external_attr >> 16)
        entries[0]["sha256"] = sha(b"never")
        response = api.owner.post("/snapshots", json={"entries": entries})
        assert (response.status_code, details_of(response)) == (
            409,
            {"missing": [sha(b"never")]},
        )

    def test_models(self, api):
        api.run()
        api.owner.put("/runs/run-1/artifacts/outputs/m.pt", content=b"weights")
        made = api.owner.post(
            "/models", json={"name": "birds", "run_id": "run-1", "path": "outputs/m.pt", "tags": {"a": "1"}}
        )
        assert made.status_code == 201
        assert made.json()["files"][0]["path"] == "m.pt"
        assert api.owner.get("/models/birds/1/files/m.pt").content == b"weights"
        assert api.owner.patch("/models/birds/1", json={"description": "d", "remove_tags": ["a"]}).json()["tags"] == {}
        assert api.owner.get("/models/birds").json()["description"] == "d"
        assert len(api.owner.get("/models", params={"run_id": "run-1", "latest": True}).json()["models"]) == 1
        assert api.owner.delete("/models/birds/1").status_code == 200
        assert api.owner.get("/models/birds").status_code == 404

    def test_compute(self, api):
        made = api.owner.post("/compute", json={"name": "gpu", "spec": {"max_nodes": 2}})
        assert (made.status_code, made.json()["spec"]["max_nodes"]) == (201, 2)
        assert [c["name"] for c in api.owner.get("/compute").json()["compute"]] == ["local", "gpu"]
        assert api.owner.patch("/compute/gpu", json={"max_nodes": 4}).json()["spec"]["max_nodes"] == 4
        assert api.owner.get("/compute/gpu/nodes").json() == {"nodes": []}
        assert api.owner.delete("/compute/gpu").status_code == 200


class TestAgent:
    def test_a_whole_run(self, api, token):
        api.run()
        agent = api.tcp(token("run-1", "agent"))
        at = "/agent/run-1/1/0"
        hello = agent.post(f"{at}/hello", json={"protocol": 1}).json()
        assert hello == {"journals": {}, "logs": {}, "cancel": False}
        agent.post(f"{at}/running", json={"ranks": [{"rank": 0, "pid": 1}]})
        assert agent.get("/runs/run-1").json()["status"] == "Running"
        part = {
            "journal": "1-a.jnl",
            "from": 0,
            "to": 10,
            "blocks": [],
            "records": [["m", None, "loss", 1, None, 5.0]],
        }
        assert agent.post(f"{at}/journal", json=part).json() == {"ack": 10}
        assert agent.post(f"{at}/journal", json=part).json() == {"ack": 10}
        gap = agent.post(f"{at}/journal", json={**part, "from": 50, "to": 60})
        assert (gap.status_code, details_of(gap)) == (409, {"offset": 10})
        agent.post(f"{at}/log", params={"name": LOG, "offset": 0}, content=b"x")
        agent.post(f"{at}/beat", json={"samples": [{"time": "t", "cpu_percent": 1.0}], "state": "running"})
        hello = agent.post(f"{at}/hello", json={"protocol": 1}).json()
        assert (hello["journals"], hello["logs"]) == ({"1-a.jnl": 10}, {LOG: 1})
        agent.post(f"{at}/outcome", json={"result": "completed"})
        agent.post(f"{at}/finished", json={"warnings": ["w"]})
        run = agent.get("/runs/run-1").json()
        assert (run["status"], run["warnings"]) == ("Completed", ["w"])
        assert api.owner.get("/runs/run-1/metrics").json()["metrics"][0]["values"] == [1]
        assert api.owner.get("/runs/run-1/samples").json()["samples"][0]["node"] == 0
        assert agent.post(f"{at}/beat", json={}).status_code == 409
        assert agent.post(f"{at}/hello", json={"protocol": 99}).json()["error"]["code"] == "version_mismatch"

    def test_commands_come_as_soon_as_they_are_there(self, api, token):
        api.run()
        agent = api.tcp(token("run-1", "agent"))
        agent.post("/agent/run-1/1/0/running", json={})
        answers = []
        polls = [
            threading.Thread(
                target=lambda: answers.append(api.tcp(token("run-1", "agent")).get("/agent/run-1/1/0/commands?after=0"))
            )
            for _ in range(60)
        ]
        for poll in polls:
            poll.start()
        # More polls than the pool has threads: the API still answers, because none of them holds one.
        deadline = time.monotonic() + 60
        while len(api.app.state.services.waiters) < 60 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(api.app.state.services.waiters) == 60
        assert api.owner.post("/runs/run-1/cancel").json()["status"] == "CancelRequested"
        for poll in polls:
            poll.join(60)
        assert len(answers) == 60
        assert all(a.json()["commands"] == [{"n": 1, "command": "cancel", "grace_s": 10.0}] for a in answers)


class TestOpenApi:
    def test_it_can_be_made_and_names_every_route(self, api):
        schema = api.owner.get("/openapi.json").json()
        assert len(schema["paths"]) > 40
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                assert operation["tags"], (method, path)
