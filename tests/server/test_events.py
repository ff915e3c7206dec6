from __future__ import annotations

import base64
import json
import threading
import time

from rookery.spec.status import RunStatus

LOG = "azureml-logs/70_driver_log.txt"


def frames(lines):
    event = {}
    for line in lines:
        if not line:
            if "data" in event:
                yield int(event["id"]), event["event"], json.loads(event["data"])
            event = {}
        elif not line.startswith(":"):
            key, _, value = line.partition(": ")
            event[key] = value


def read_all(api, url, **kwargs):
    with api.owner.stream("GET", url, **kwargs) as response:
        assert response.status_code == 200
        return list(frames(response.iter_lines()))


class TestStream:
    def finished_run(self, api):
        api.run()
        api.record.runs.advance("run-1", status=RunStatus.RUNNING)
        api.record.logs.append("run-1", LOG, 0, "Hühner\n".encode())
        api.record.logs.append("run-1", LOG, 8, b"\xff\xfe")
        api.owner.post(
            "/runs/run-1/records",
            json={"records": [["m", None, "loss", 1.5, None, 5.0], ["w", None, "careful"]]},
        )
        api.owner.patch("/runs/run-1", json={"tags": {"a": "b"}})
        api.owner.put("/runs/run-1/artifacts/x", content=b"x")

    def test_kinds_order_and_end(self, api):
        self.finished_run(api)
        api.record.runs.advance("run-1", status=RunStatus.COMPLETED)
        events = read_all(api, "/runs/run-1/events?until=end")
        kinds = [kind for _, kind, _ in events]
        assert kinds[-2:] == ["status", "end"]
        assert set(kinds) == {"status", "log", "metric", "warning", "run", "artifact", "end"}
        seqs = [seq for seq, kind, _ in events if kind != "end"]
        assert seqs == sorted(set(seqs))
        assert next(d for _, k, d in events if k == "metric") == {
            "run": "run-1",
            "name": "loss",
            "kind": "scalar",
            "start": 0,
            "count": 1,
            "last": 1.5,
        }

    def test_text_and_bytes(self, api):
        self.finished_run(api)
        events = []
        with api.owner.stream("GET", "/runs/run-1/events") as response:
            for event in frames(response.iter_lines()):
                events.append(event)
                if event[1] == "artifact":
                    break
        logs = [data for _, kind, data in events if kind == "log"]
        assert logs[0] == {"run": "run-1", "name": LOG, "offset": 0, "text": "Hühner\n"}
        assert base64.b64decode(logs[1]["base64"]) == b"\xff\xfe"

    def test_resume_by_number_from_any_point(self, api):
        self.finished_run(api)
        api.record.runs.advance("run-1", status=RunStatus.FAILED)
        everything = read_all(api, "/runs/run-1/events?until=end")
        for n, (seq, _, _) in enumerate(everything[:-1]):
            rest = everything[n + 1 :]
            assert read_all(api, f"/runs/run-1/events?until=end&after={seq}") == rest
            assert read_all(api, "/runs/run-1/events?until=end&after=0", headers={"Last-Event-ID": str(seq)}) == rest

    def test_a_line_arrives_at_once_and_in_order(self, api):
        api.run()
        arrived = []
        ready = threading.Event()

        def follow():
            with api.tcp(api.record.tokens.make("run-1")).stream("GET", "/runs/run-1/events?until=end") as response:
                for seq, kind, data in frames(response.iter_lines()):
                    arrived.append((seq, kind, data, time.monotonic()))
                    ready.set()

        reader = threading.Thread(target=follow)
        reader.start()
        assert ready.wait(60)
        sent, offset = [], 0
        for n in range(20):
            line = b"line %d\n" % n
            sent.append(time.monotonic())
            offset = api.record.logs.append("run-1", LOG, offset, line)
            deadline = time.monotonic() + 60
            while sum(k == "log" for _, k, _, _ in arrived) < n + 1 and time.monotonic() < deadline:
                time.sleep(0.002)
        api.record.runs.advance("run-1", status=RunStatus.COMPLETED)
        reader.join(60)
        assert not reader.is_alive()
        logs = [(data["text"], at) for _, kind, data, at in arrived if kind == "log"]
        assert [text for text, _ in logs] == [f"line {n}\n" for n in range(20)]
        assert arrived[-1][1] == "end"

    def test_the_workspaces_stream_starts_now_or_where_told(self, api):
        api.run()
        last = api.record.events.last_seq()
        with api.owner.stream("GET", "/events") as response:
            lines = response.iter_lines()
            assert [next(lines) for _ in range(3)] == [": rookery", f"id: {last}", ""]  # where it begins
            api.record.compute.put("gpu", {"max_nodes": 1})
            assert next(frames(lines)) == (last + 1, "compute", {"name": "gpu"})
        with api.owner.stream("GET", "/events?after=0") as response:
            assert next(frames(response.iter_lines()))[2]["run"] == "run-1"

    def test_a_runs_stream_starts_now_when_asked_to(self, api):
        self.finished_run(api)
        api.record.runs.advance("run-1", status=RunStatus.COMPLETED)
        assert [kind for _, kind, _ in read_all(api, "/runs/run-1/events?until=end&after=-1")] == ["end"]

    def test_only_some_kinds(self, api):
        self.finished_run(api)
        api.record.runs.advance("run-1", status=RunStatus.COMPLETED)
        assert {k for _, k, _ in read_all(api, "/runs/run-1/events?until=end&kinds=status")} == {"status", "end"}
        kinds = [k for _, k, _ in read_all(api, "/runs/run-1/events?until=end&kinds=log,metric")]
        assert kinds == ["log", "metric", "end"]  # the rows of one log were merged at the end
        with api.owner.stream("GET", "/events?after=0&kinds=artifact") as response:
            assert next(frames(response.iter_lines()))[1] == "artifact"

    def test_bad_questions(self, api):
        api.run()
        assert "Known: status, log" in api.owner.get("/runs/run-1/events?kinds=status,logs").json()["error"]["message"]
        assert api.owner.get("/runs/run-1/events?until=tomorrow").status_code == 400
        assert api.owner.get("/runs/run-1/events?after=x").status_code == 422
        assert api.owner.get("/runs/run-1/events", headers={"Last-Event-ID": "x"}).status_code == 400
