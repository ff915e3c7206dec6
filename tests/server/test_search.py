"""The routes of the table of runs: what they take, what they answer, what they refuse."""

from __future__ import annotations

import json
import math

import pytest

from rookery.record.metric_values import chunk_of_values
from rookery.server import answer_views as v
from rookery.spec.status import RunStatus


@pytest.fixture
def three(api):
    """Three runs with a metric, a parameter and a tag; the last one's metric ends in NaN."""
    for i, last in enumerate((0.5, 0.25, math.nan)):
        api.run(f"run-{i}", display_name=f"Bird {i}", experiment="hens" if i else "geese")
        chunk = chunk_of_values([1.0, 0.75, last], [0, 10, 20], [1.0, 2.0, 3.0])
        api.record.external.log(f"run-{i}", metrics=[("loss", chunk)], params={"lr": f"0.{i}"}, tags={"team": "a"})
    return api


def search(api, **body):
    response = api.owner.post("/search/runs", json=body)
    assert response.status_code == 200, response.text
    return strict(response)


def strict(response):
    def refuse(token):
        raise AssertionError(f"{token} is no JSON")

    return json.loads(response.text, parse_constant=refuse)


class TestSearchRuns:
    def test_a_page_is_what_is_said(self, three):
        found = search(three, count=True, sparklines={"metrics": ["loss"]})
        page = v.RunTablePage.model_validate(found)
        assert [run.id for run in page.runs] == ["run-2", "run-1", "run-0"]
        assert (page.cursor, page.total) == (None, 3)
        first = found["runs"][0]
        assert first["metrics"] == {"loss": "NaN"}
        assert first["series"] == {"loss": {"x": [0, 10, 20], "y": [1.0, 0.75, None]}}
        assert first["params"] == {"lr": "0.2"}
        assert first["status"] == "Queued"
        assert first["reason"] == "waiting for an agent"

    def test_filters_order_columns_and_pages(self, three):
        asked = {
            "where": [{"kind": "metric", "key": "loss", "op": "<", "value": 1}],
            "sort": [{"kind": "metric", "key": "loss"}],
            "columns": {"metrics": ["loss"], "params": [], "tags": []},
            "limit": 1,
        }
        first = search(three, **asked)
        assert [(r["id"], r["metrics"], r["params"], r["tags"]) for r in first["runs"]] == [
            ("run-1", {"loss": 0.25}, {}, {})
        ]
        assert "series" not in first["runs"][0]
        second = search(three, **asked, cursor=first["cursor"])
        assert [r["id"] for r in second["runs"]] == ["run-0"]
        assert second["cursor"] is None

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"colour": "red"}, 422),
            ({"limit": 0}, 422),
            ({"limit": 501}, 422),
            ({"where": [{"kind": "colour", "key": "x"}]}, 422),
            ({"where": [{"kind": "metric", "key": "x", "op": "<", "value": "a"}]}, 400),
            ({"where": [{"kind": "metric", "key": "x"}] * 51}, 422),
            ({"sort": [{"key": "colour"}]}, 400),
            ({"sort": [{"key": "name"}] * 4}, 422),
            ({"statuses": ["Finished"]}, 400),
            ({"archived": "maybe"}, 422),
            ({"cursor": "x"}, 400),
            ({"sparklines": {"metrics": ["a"] * 5}}, 422),
            ({"sparklines": {"points": 1}}, 422),
        ],
    )
    def test_what_is_wrong_is_refused(self, api, body, status):
        response = api.owner.post("/search/runs", json=body)
        assert response.status_code == status, response.text
        assert response.json()["error"]["message"]

    def test_a_run_may_ask_and_nobody_else_without_a_token(self, three, token):
        assert three.tcp(token("run-0")).post("/search/runs", json={}).status_code == 200
        assert three.tcp().post("/search/runs", json={}).status_code == 401


class TestNames:
    def test_names_and_values(self, three):
        found = v.KnownNames.model_validate(strict(three.owner.get("/search/names")))
        assert [(n.name, n.runs) for n in found.metrics] == [("loss", 3)]
        assert {n.name for n in found.experiments} == {"hens", "geese"}
        of_one = strict(three.owner.get("/search/names", params={"experiment": ["geese"], "text": "l"}))
        assert of_one["metrics"] == [{"name": "loss", "runs": 1}]
        values = strict(three.owner.get("/search/values", params={"kind": "tag", "key": "team"}))
        assert values == {"values": [{"value": "a", "runs": 3}]}

    @pytest.mark.parametrize(
        "path",
        ["/search/names?limit=0", "/search/values?kind=metric&key=x", "/search/values?kind=tag&key=x&limit=9999"],
    )
    def test_what_is_wrong_is_refused(self, api, path):
        assert api.owner.get(path).status_code == 400


class TestCompare:
    def test_what_differs_comes_first(self, three):
        found = strict(three.owner.post("/compare", json={"runs": ["run-1", "run-0"]}))
        v.Comparison.model_validate(found)
        assert [run["id"] for run in found["runs"]] == ["run-1", "run-0"]
        assert found["params"] == [{"name": "lr", "values": ["0.1", "0.0"], "differs": True}]
        assert found["metrics"] == [{"name": "loss", "values": [0.25, 0.5], "differs": True}]
        assert found["tags"] == [{"name": "team", "values": ["a", "a"], "differs": False}]
        assert found["attributes"][0]["differs"]
        assert not found["attributes"][-1]["differs"]

    def test_curves_of_several_runs(self, three):
        asked = {"runs": ["run-0", "run-2"], "names": ["loss"], "x": "step", "from": 5, "points": 100}
        found = strict(three.owner.post("/search/series", json=asked))["series"]
        assert [(s["run"], s["xs"], s["ys"]) for s in found] == [
            ("run-0", [10, 20], [0.75, 0.5]),
            ("run-2", [10, 20], [0.75, None]),
        ]

    def test_what_is_wrong_is_refused(self, three):
        assert three.owner.post("/compare", json={"runs": ["nobody"]}).status_code == 404
        assert three.owner.post("/compare", json={"runs": []}).status_code == 422
        assert three.owner.post("/compare", json={"runs": ["run-0"] * 51}).status_code == 422
        assert three.owner.post("/search/series", json={"runs": ["nobody"], "names": ["x"]}).status_code == 404
        assert three.owner.post("/search/series", json={"runs": ["run-0"], "names": ["x"], "x": "y"}).status_code == 422


class TestActions:
    def act(self, api, action, runs, **more):
        response = api.owner.post("/actions/runs", json={"action": action, "run_ids": runs, **more})
        assert response.status_code == 200, response.text
        return strict(response)["results"]

    def test_one_that_fails_stops_no_other(self, three):
        results = self.act(
            three, "tag", ["run-0", "nobody", "run-1", "run-0"], tags={"good": "yes"}, remove_tags=["team"]
        )
        assert [(r["run_id"], r["ok"]) for r in results] == [("run-0", True), ("nobody", False), ("run-1", True)]
        assert results[1]["error"]["code"] == "run_not_found"
        assert three.record.runs.get("run-1")["tags"] == {"good": "yes"}
        assert three.record.runs.get("run-2")["tags"] == {"team": "a"}

    def test_cancel_then_delete_then_restore(self, three):
        assert [r["ok"] for r in self.act(three, "delete", ["run-0"])] == [False]
        assert [r["status"] for r in self.act(three, "cancel", ["run-0", "run-1"])] == ["Canceled", "Canceled"]
        assert [r["ok"] for r in self.act(three, "cancel", ["run-0"])] == [True]
        assert [r["ok"] for r in self.act(three, "delete", ["run-0", "run-1"])] == [True, True]
        assert [run["id"] for run in search(three)["runs"]] == ["run-2"]
        assert [r["ok"] for r in self.act(three, "restore", ["run-0"])] == [True]
        assert [run["id"] for run in search(three)["runs"]] == ["run-2", "run-0"]

    def test_archive_and_back(self, three):
        self.act(three, "archive", ["run-0", "run-1"])
        assert [run["id"] for run in search(three)["runs"]] == ["run-2"]
        assert [run["id"] for run in search(three, archived="only")["runs"]] == ["run-1", "run-0"]
        self.act(three, "unarchive", ["run-0"])
        assert [run["id"] for run in search(three)["runs"]] == ["run-2", "run-0"]

    def test_resubmit(self, three):
        (result,) = self.act(three, "resubmit", ["run-0"])
        new = three.record.runs.get(result["new_run_id"])
        assert new["properties"]["rookery.reproduces"] == "run-0"
        assert new["spec"]["script"] == "train.py"
        assert new["status"] == RunStatus.QUEUED

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"action": "explode", "run_ids": ["run-0"]}, 422),
            ({"action": "tag", "run_ids": ["run-0"]}, 400),
            ({"action": "cancel", "run_ids": ["run-0"], "tags": {"a": "b"}}, 400),
            ({"action": "cancel", "run_ids": []}, 422),
            ({"action": "cancel", "run_ids": ["x"] * 501}, 422),
        ],
    )
    def test_what_is_wrong_is_refused(self, api, body, status):
        assert api.owner.post("/actions/runs", json=body).status_code == status
