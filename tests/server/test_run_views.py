"""A run as its page shows it: overview, timeline, curves, logged items, and its values as a file."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

from rookery.record.metric_values import chunk_of_values
from rookery.server import answer_views as v
from rookery.spec.status import RunStatus
from tests.server.test_search import strict


@pytest.fixture
def run(api):
    api.run("parent")
    api.run(parent_id="parent", properties={"azureml.git.branch": "main", "azureml.git.dirty": "False"})
    return api


def records(api, *given, run_id="run-1"):
    response = api.owner.post(f"/runs/{run_id}/records", content=json.dumps({"records": list(given)}))
    assert response.status_code == 200, response.text


class TestOverview:
    def test_all_of_a_run_in_one_answer(self, run):
        run.record.runs.advance("run-1", status=RunStatus.RUNNING)
        run.run("kid", kind="child", parent_id="run-1")
        records(run, ["m", None, "loss", math.nan, 3, 5.0], ["g", None, {"rookery.archived": "true"}])
        run.owner.put("/runs/run-1/artifacts/outputs/a.txt", content=b"hello")
        run.record.logs.append("run-1", "user_logs/std_log.txt", 0, b"one\n")
        run.owner.post("/models", json={"name": "net", "run_id": "run-1", "path": "outputs/a.txt"})
        found = strict(run.owner.get("/runs/run-1/overview"))
        v.Overview.model_validate(found)
        assert found["run"]["id"] == "run-1"
        assert found["parent"]["id"] == "parent"
        assert found["children"] == {"total": 1, "by_status": {"Running": 1}}
        assert found["git"] == {"branch": "main", "dirty": "False"}
        (metric,) = found["metrics"]
        assert (metric["name"], metric["last"], metric["last_step"]) == ("loss", "NaN", 3)
        assert [log["size"] for log in found["logs"]] == [4]
        assert found["artifacts"] == {"files": 1, "bytes": 5}
        assert found["models"] == [{"name": "net", "version": 1}]
        assert found["environment"]["name"] == "default-environment"
        assert found["archived"] is True
        assert found["snapshot"] is None

    def test_phases_are_bars_without_gaps(self, run):
        run.record.runs.advance("run-1", status=RunStatus.QUEUED, reason="waiting for a node")
        run.record.runs.advance("run-1", status=RunStatus.RUNNING)
        bars = strict(run.owner.get("/runs/run-1/overview"))["phases"]
        assert [bar["status"] for bar in bars][-2:] == ["Queued", "Running"]
        assert len({bar["status"] for bar in bars}) == len(bars)
        assert all(a["end"] == b["start"] for a, b in zip(bars, bars[1:]))
        assert all(bar["duration_s"] >= 0 for bar in bars)
        assert bars[-2]["reason"] == "waiting for a node"
        run.record.runs.advance("run-1", status=RunStatus.COMPLETED)
        over = strict(run.owner.get("/runs/run-1/overview"))["phases"]
        assert over[-1]["status"] == "Running"
        assert over[-1]["end"] == pytest.approx(over[-1]["start"] + over[-1]["duration_s"], abs=1e-3)

    def test_nobody(self, api):
        for what in ("overview", "timeline", "series", "items?name=x", "metrics.csv", "tree", "reproduce"):
            response = api.owner.get(f"/runs/nobody/{what}")
            assert (response.status_code, response.json()["error"]["code"]) == (404, "run_not_found"), what


class TestTimeline:
    def test_nodes_as_lines(self, run):
        for i in range(500):
            gpus = [{"index": 0, "util_percent": 50 + i % 2, "memory_bytes": 7}]
            sample = {"time": float(i), "cpu_percent": float(i), "memory_bytes": 1000 + i, "gpus": gpus}
            run.record.samples.add("run-1", i % 2, [sample])
        found = strict(run.owner.get("/runs/run-1/timeline?points=10"))
        v.Timeline.model_validate(found)
        first, second = found["samples"]
        assert (first["node"], second["node"]) == (0, 1)
        assert len(first["times"]) == len(first["cpu_percent"]) == 10
        assert first["cpu_percent"][-1] == 498.0  # the last is always there
        assert second["gpus"] == [{"index": 0, "util_percent": [51] * 10, "memory_bytes": [7] * 10}]

    def test_tries(self, run):
        note = {
            "attempt": 1, "started_utc": "2026-11-16T08:00:00.000000Z", "ended_utc": None, "result": None, "cause": None,
            "nodes": [{"id": "local-0", "result": None, "ranks": [], "machine": ""}],
        }  # fmt: skip
        run.record.runs.set_state("run-1", {"attempts": [note]})
        found = strict(run.owner.get("/runs/run-1/timeline"))
        v.Timeline.model_validate(found)
        assert found["attempts"][0]["start"] == 1794816000.0
        assert found["attempts"][0]["nodes"][0]["node"] == 0
        assert found["samples"] == []

    def test_what_is_wrong_is_refused(self, run):
        assert run.owner.get("/runs/run-1/timeline?points=1").status_code == 422


class TestSeries:
    def test_a_million_points_are_few(self, run):
        for start in range(0, 1_000_000, 250_000):
            steps = range(start, start + 250_000)
            chunk = chunk_of_values([float(s % 1000) for s in steps], steps, [float(s) for s in steps])
            run.record.external.log("run-1", metrics=[("loss", chunk)])
        response = run.owner.get("/runs/run-1/series", params={"name": "loss", "points": 1000})
        (found,) = strict(response)["series"]
        v.Series.model_validate(found)
        assert (found["total"], found["sampled"], found["high"]) == (1_000_000, True, 999.0)
        assert len(found["xs"]) <= 1002
        assert len(response.content) < 40_000
        zoomed = {"name": "loss", "from": 500_000, "to": 500_009}
        (found,) = strict(run.owner.get("/runs/run-1/series", params=zoomed))["series"]
        assert found["xs"] == list(range(500_000, 500_010))

    def test_all_of_a_run(self, run):
        records(run, ["m", None, "a", 1.0, 1, 1.0], ["m", None, "b", 2, None, 2.0], ["r", None, "r", {"x": 1}, 1.0])
        found = strict(run.owner.get("/runs/run-1/series?x=time"))["series"]
        assert [(s["name"], s["xs"], s["ys"]) for s in found] == [("a", [1.0], [1.0]), ("b", [2.0], [2.0])]

    @pytest.mark.parametrize("query", ["points=1", "points=5001", "x=colour", "from=abc", "from=nan", "to=inf"])
    def test_what_is_wrong_is_refused(self, run, query):
        assert run.owner.get(f"/runs/run-1/series?{query}").status_code == 422

    def test_by_rank(self, run):
        for rank in (0, 1):
            body = {"journal": f"{rank}.jnl", "from": 0, "to": 1, "rank": rank}
            said = run.owner.post(
                "/agent/run-1/1/0/journal", json={**body, "records": [["m", None, "loss", rank, 0, 9.0]]}
            )
            assert said.json() == {"ack": 1}
        found = strict(run.owner.get("/runs/run-1/series?name=loss&by=rank"))["series"]
        v.Series.model_validate(found[0])
        assert [(s["rank"], s["ys"]) for s in found] == [(0, [0.0]), (1, [1.0])]
        assert [s["rank"] for s in strict(run.owner.get("/runs/run-1/series?rank=1"))["series"]] == [1]
        assert strict(run.owner.get("/runs/run-1/overview"))["metrics"][0]["by_rank"] is True
        rows = run.owner.get("/runs/run-1/metrics.csv?by=rank").text.splitlines()
        assert rows == ["name,step,time,value,rank", "loss,0,9.0,0,0", "loss,0,9.0,1,1"]

    @pytest.mark.parametrize("rank", [-1, 2**31, "0", 1.5, True])
    def test_a_rank_that_is_none(self, run, rank):
        body = {"journal": "a.jnl", "from": 0, "to": 1, "rank": rank}
        assert run.owner.post("/agent/run-1/1/0/journal", json=body).status_code == 400
        assert run.owner.get("/runs/run-1/series?rank=-1").status_code == 422

    def test_as_a_file(self, run):
        records(
            run,
            ["m", None, "loss", 0.5, 1, 10.0],
            ["m", None, "loss", math.nan, 2, 11.0],
            ["m", None, "=x", "=1+1", None, 12.0],
        )
        response = run.owner.get("/runs/run-1/metrics.csv")
        assert response.headers["content-type"].startswith("text/csv")
        assert 'filename="run-1-metrics.csv"' in response.headers["content-disposition"]
        rows = list(csv.reader(io.StringIO(response.text)))
        assert rows == [
            ["name", "step", "time", "value"],
            ["loss", "1", "10.0", "0.5"],
            ["loss", "2", "11.0", "nan"],
            ["'=x", "", "12.0", "'=1+1"],  # no formula
        ]
        assert len(run.owner.get("/runs/run-1/metrics.csv?name=loss").text.splitlines()) == 3


class TestItems:
    def test_rows_and_matrices(self, run):
        for i in range(5):
            records(
                run,
                ["r", None, "row", {"x": i, "y": math.inf}, 1.0],
                ["d", None, "image", "image", {"artifact": f"p{i}.png"}, 1.0],
            )
        found = strict(run.owner.get("/runs/run-1/items?name=row&start=3&limit=1"))
        v.Items.model_validate(found)
        assert (found["kind"], found["total"], found["columns"]) == ("row", 5, {"x": [3], "y": ["Infinity"]})
        found = strict(run.owner.get("/runs/run-1/items?name=image&start=4"))
        assert (found["total"], found["items"]) == (5, [{"artifact": "p4.png"}])

    def test_what_is_wrong_is_refused(self, run):
        assert run.owner.get("/runs/run-1/items?name=nothing").status_code == 404
        assert run.owner.get("/runs/run-1/items").status_code == 422
        assert run.owner.get("/runs/run-1/items?name=x&limit=1001").status_code == 422
        assert run.owner.get("/runs/run-1/items?name=x&start=-1").status_code == 422
