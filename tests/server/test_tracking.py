"""MLflow's calls over plain HTTP, on whatever keeps records and files. The real client's suite is in tests/mlflow."""

from __future__ import annotations

import pytest

API = "/api/2.0/mlflow/"
FILES = "/api/2.0/mlflow-artifacts/artifacts/"


@pytest.fixture
def track(api):
    """Calls by name; the answer, which must be one."""

    def call(method, path, **given):
        url = f"http://keeper{path if path.startswith('/') else API + path}"
        response = api.owner.request(method, url, **given)
        assert response.status_code == 200, (path, response.text)
        return response.json() if "json" in response.headers["content-type"] else response.content

    return call


@pytest.fixture
def experiment(track):
    return track("POST", "experiments/create", json={"name": "tracked", "tags": [{"key": "t", "value": "é\u0000"}]})[
        "experiment_id"
    ]


def start(track, experiment, number):
    run = track("POST", "runs/create", json={"experiment_id": experiment, "start_time": 1000 + number})["run"]
    run_id = run["info"]["run_id"]
    metrics = [{"key": "loss", "value": number / step, "timestamp": 5000 + step, "step": step} for step in range(1, 50)]
    batch = {
        "metrics": [*metrics, {"key": "odd", "value": "NaN" if number % 2 else "Infinity", "timestamp": 1, "step": -3}],
        "params": [{"key": "lr", "value": str(number)}, {"key": "a b_", "value": "x" * 500}],
        "tags": [{"key": "team", "value": "red" if number < 3 else "blue"}],
    }
    track("POST", "runs/log-batch", json={"run_id": run_id, **batch})
    track("POST", "runs/update", json={"run_id": run_id, "status": "FINISHED", "end_time": 9000})
    return run_id


class TestRuns:
    def test_are_found_by_what_was_logged(self, track, experiment):
        runs = [start(track, experiment, number) for number in range(1, 6)]

        def search(text, *order, **more):
            body = {"experiment_ids": [experiment], "filter": text, "order_by": list(order), **more}
            return [run["info"]["run_id"] for run in track("POST", "runs/search", json=body).get("runs", [])]

        assert search("metrics.loss < 0.05", "metrics.loss ASC") == runs[:2]
        assert search("params.lr = '4'") == [runs[3]]
        assert search("params.`a b_` LIKE 'xx%'", "params.lr DESC") == runs[::-1]
        assert search("tags.team = 'blue' AND attributes.status = 'FINISHED'", "start_time ASC") == runs[2:]
        assert search("tags.team ILIKE 'R%D'", "attributes.start_time DESC") == runs[1::-1]
        page = track(
            "POST",
            "runs/search",
            json={"experiment_ids": [experiment], "max_results": 3, "order_by": ["params.lr ASC"]},
        )
        rest = {"experiment_ids": [experiment], "order_by": ["params.lr ASC"], "page_token": page["next_page_token"]}
        following = track("POST", "runs/search", json=rest)
        assert [run["info"]["run_id"] for run in page["runs"] + following["runs"]] == runs

    def test_history_deletion_and_restoring(self, track, experiment):
        run = start(track, experiment, 1)
        history = track("GET", "metrics/get-history", params={"run_id": run, "metric_key": "loss"})["metrics"]
        assert [(m["value"], m["step"]) for m in history] == [(1 / step, step) for step in range(1, 50)]
        stored = track("GET", "runs/get", params={"run_id": run})["run"]["data"]
        latest = {m["key"]: m["value"] for m in stored["metrics"]}
        assert latest["loss"] == 1 / 49
        assert str(latest["odd"]) in ("NaN", "nan")
        track("POST", "runs/delete", json={"run_id": run})
        assert track("POST", "runs/search", json={"experiment_ids": [experiment]}).get("runs", []) == []
        track("POST", "runs/restore", json={"run_id": run})
        assert len(track("POST", "runs/search", json={"experiment_ids": [experiment]})["runs"]) == 1


class TestFiles:
    def test_up_listed_down_and_gone(self, track, experiment):
        run = start(track, experiment, 1)
        below = f"{experiment}/{run}/artifacts/"
        data = bytes(range(256)) * 20_000
        track("PUT", FILES + below + "net/w.bin", content=data)
        track("PUT", FILES + below + "net/é.txt", content=b"text")
        listed = track("GET", "artifacts/list", params={"run_id": run, "path": "net"})["files"]
        assert [(f["path"], f["file_size"]) for f in listed] == [("net/w.bin", len(data)), ("net/é.txt", 4)]
        assert track("GET", FILES + below + "net/w.bin") == data
        track("DELETE", FILES + below + "net/w.bin")
        assert len(track("GET", "artifacts/list", params={"run_id": run, "path": "net"})["files"]) == 1


class TestModels:
    def test_names_versions_and_aliases(self, track, experiment):
        run = start(track, experiment, 1)
        track("PUT", FILES + f"{experiment}/{run}/artifacts/net/w.bin", content=b"weights")
        track("POST", "registered-models/create", json={"name": "pigeon", "tags": [{"key": "a", "value": "b"}]})
        source = f"mlflow-artifacts:/{experiment}/{run}/artifacts/net"
        made = track("POST", "model-versions/create", json={"name": "pigeon", "source": source, "run_id": run})
        assert made["model_version"]["version"] == "1"
        track("POST", "registered-models/alias", json={"name": "pigeon", "alias": "best", "version": "1"})
        found = track("GET", "registered-models/alias", params={"name": "pigeon", "alias": "best"})["model_version"]
        assert (found["version"], found["run_id"]) == ("1", run)
        assert (
            len(track("GET", "registered-models/search", params={"filter": "name LIKE 'pig%'"})["registered_models"])
            == 1
        )
        versions = track("GET", "model-versions/search", params={"filter": f"run_id = '{run}'"})["model_versions"]
        assert [v["name"] for v in versions] == ["pigeon"]
