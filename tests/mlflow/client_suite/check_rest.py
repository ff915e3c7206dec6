"""Answers that the client library would not let through: raw requests, errors and their codes."""

import json
import urllib.error
import urllib.parse
import urllib.request

import pytest

API = "/api/2.0/mlflow"


@pytest.fixture
def ask(tracking):
    parts = urllib.parse.urlsplit(tracking)
    token = parts.password
    base = f"{parts.scheme}://{parts.hostname}:{parts.port}"

    def ask(method, path, body=None, raw=None, authorization=f"Bearer {token}"):
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(base + path, data=data, method=method)
        if authorization:
            request.add_header("Authorization", authorization)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text[:1] in b"{[" and text else text
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    return ask


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", f"{API}/experiments/get?experiment_id=nope", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("GET", f"{API}/experiments/get", None, 400, "INVALID_PARAMETER_VALUE"),
        ("GET", f"{API}/experiments/get-by-name?experiment_name=nope", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("POST", f"{API}/experiments/create", {}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/experiments/create", {"name": ["x"]}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/experiments/create", [1], 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/runs/create", {"experiment_id": "nope"}, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("POST", f"{API}/runs/create", {"start_time": "abc"}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/runs/search", {"max_results": 0}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/runs/search", {"max_results": 100001}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/runs/search", {"filter": "x x x"}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/runs/log-metric", {"run_id": "nope", "key": "m", "value": 1}, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("POST", f"{API}/runs/log-metric", {"key": "m", "value": 1}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", f"{API}/runs/log-batch", {"run_id": "nope", "metrics": {}}, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("POST", f"{API}/runs/log-batch", {"run_id": "nope", "metrics": [1]}, 400, "INVALID_PARAMETER_VALUE"),
        ("GET", f"{API}/runs/get?run_id=nope", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("GET", f"{API}/nothing/here", None, 404, "ENDPOINT_NOT_FOUND"),
        ("GET", f"{API}/runs/create", None, 400, "BAD_REQUEST"),
        ("GET", f"{API}/registered-models/get?name=nope", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("GET", f"{API}/model-versions/get?name=nope&version=1", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("GET", f"{API}/model-versions/get?name=nope&version=one", None, 400, "INVALID_PARAMETER_VALUE"),
        ("GET", f"{API}/logged-models/m-nope", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("GET", "/api/2.0/mlflow-artifacts/artifacts/0/nope/artifacts/x", None, 404, "RESOURCE_DOES_NOT_EXIST"),
        ("GET", "/api/2.0/mlflow-artifacts/artifacts?path=../../etc", None, 400, "INVALID_PARAMETER_VALUE"),
        ("GET", "/api/2.0/mlflow-artifacts/artifacts/a/%2e%2e/%2e%2e/etc/passwd", None, 400, "INVALID_PARAMETER_VALUE"),
        ("PUT", "/api/2.0/mlflow-artifacts/artifacts/%2e%2e/x", {"a": 1}, 400, "INVALID_PARAMETER_VALUE"),
        ("POST", "/api/2.0/mlflow-artifacts/mpu/create/x", {"num_parts": 1}, 501, "NOT_IMPLEMENTED"),
    ],
)
def test_errors(ask, method, path, body, status, code):
    got, answer = ask(method, path, body)
    assert (got, answer["error_code"]) == (status, code)
    assert answer["message"]


def test_a_body_that_is_no_json(ask):
    status, answer = ask("POST", f"{API}/runs/create", raw=b"{nope")
    assert (status, answer["error_code"]) == (400, "BAD_REQUEST")
    status, _ = ask("POST", f"{API}/runs/create", raw=b"[" * 100_000)
    assert status == 400


@pytest.mark.parametrize("authorization", ["", "Bearer nope", "Basic bm9wZTpub3Bl", "Basic !!!", "Digest x"])
def test_who_has_no_token(ask, authorization):
    status, answer = ask("GET", f"{API}/experiments/get?experiment_id=0", authorization=authorization)
    assert (status, answer["error_code"]) == (401, "UNAUTHENTICATED")


def test_the_token_can_only_track(ask):
    for method, path in (
        ("GET", "/api/v1/runs"),
        ("GET", "/api/v1/keeper"),
        ("POST", "/api/v1/keeper/stop"),
        ("POST", "/api/v1/tokens/tracking"),
    ):
        assert ask(method, path)[0] == 403


@pytest.mark.parametrize(
    "batch",
    [
        {"metrics": [{"key": "m", "value": 1}] * 1001},
        {"params": [{"key": f"p{i}", "value": "1"} for i in range(101)]},
        {"tags": [{"key": f"t{i}", "value": "1"} for i in range(101)]},
        {"metrics": [{"key": "m", "value": 1}] * 950, "params": [{"key": f"p{i}", "value": "1"} for i in range(51)]},
        {"metrics": [{"key": "m", "value": "one"}]},
        {"metrics": [{"key": "m"}]},
        {"metrics": [{"key": "m", "value": True}]},
        {"metrics": [{"value": 1}]},
        {"metrics": [{"key": "m", "value": 1, "step": "x"}]},
        {"metrics": [{"key": "m", "value": 1, "step": 2**63}]},
        {"metrics": [{"key": "m" * 251, "value": 1}]},
        {"metrics": [{"key": "../m", "value": 1}]},
        {"metrics": [{"key": "a//b", "value": 1}]},
        {"metrics": [{"key": "m;", "value": 1}]},
        {"params": [{"key": "p", "value": "1"}, {"key": "p", "value": "2"}]},
        {"params": [{"value": "1"}]},
    ],
)
def test_a_bad_batch_stores_nothing(ask, client, run, batch):
    good = {"params": [{"key": "good", "value": "1"}]} if "params" not in batch else {}
    status, answer = ask("POST", f"{API}/runs/log-batch", {"run_id": run.info.run_id, **good, **batch})
    assert (status, answer["error_code"]) == (400, "INVALID_PARAMETER_VALUE")
    found = client.get_run(run.info.run_id).data
    assert (found.metrics, found.params) == ({}, {})


def test_both_names_of_a_run(ask, run):
    for name in ("run_id", "run_uuid"):
        assert ask("GET", f"{API}/runs/get?{name}={run.info.run_id}")[0] == 200
        assert ask("POST", f"{API}/runs/set-tag", {name: run.info.run_id, "key": "k", "value": "v"}) == (200, {})


def test_texts_for_numbers(ask, client, run):
    body = {"run_id": run.info.run_id, "key": "m", "value": "-Infinity", "step": "3", "timestamp": "1700000000000"}
    assert ask("POST", f"{API}/runs/log-metric", body) == (200, {})
    status, answer = ask("GET", f"{API}/metrics/get-history?run_id={run.info.run_id}&metric_key=m")
    assert status == 200
    assert answer["metrics"] == [{"key": "m", "value": "-Infinity", "timestamp": 1700000000000, "step": 3}]


def test_history_of_several_runs(ask, run):
    run_id = run.info.run_id
    metrics = [{"key": "m", "value": i, "step": i, "timestamp": i} for i in range(1000)]
    assert ask("POST", f"{API}/runs/log-batch", {"run_id": run_id, "metrics": metrics})[0] == 200
    status, answer = ask(
        "GET", f"/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval?run_ids={run_id}&metric_key=m&max_results=10"
    )
    assert status == 200
    assert 10 <= len(answer["metrics"]) <= 11
    assert answer["metrics"][-1]["step"] == 999


def test_pages_of_a_history(ask, run):
    run_id = run.info.run_id
    metrics = [{"key": "m", "value": i, "step": i, "timestamp": i} for i in range(5)]
    ask("POST", f"{API}/runs/log-batch", {"run_id": run_id, "metrics": metrics})
    address = f"{API}/metrics/get-history?run_id={run_id}&metric_key=m&max_results=3"
    _, first = ask("GET", address)
    _, second = ask("GET", address + "&page_token=" + urllib.parse.quote(first["next_page_token"]))
    assert [m["step"] for m in first["metrics"] + second["metrics"]] == [0, 1, 2, 3, 4]
    assert "next_page_token" not in second


def test_the_artifacts_of_a_run_by_its_id(ask, client, run):
    client.log_text(run.info.run_id, "x", "a/b.txt")
    status, answer = ask("GET", f"{API}/artifacts/list?run_id={run.info.run_id}&path=a")
    assert (status, answer["files"]) == (200, [{"path": "a/b.txt", "is_dir": False, "file_size": 1}])
    assert answer["root_uri"] == run.info.artifact_uri


def test_the_model_history_of_mlflow_2(ask, client, run):
    described = {"artifact_path": "m", "flavors": {}, "utc_time_created": "now", "run_id": run.info.run_id}
    body = {"run_id": run.info.run_id, "model_json": json.dumps(described)}
    assert ask("POST", f"{API}/runs/log-model", body)[0] == 200
    assert json.loads(client.get_run(run.info.run_id).data.tags["mlflow.log-model.history"]) == [described]
    assert ask("POST", f"{API}/runs/log-model", {"run_id": run.info.run_id, "model_json": "{}"})[0] == 400


def test_the_files_of_a_logged_model(ask, client, experiment):
    model = client.create_logged_model(experiment.experiment_id, name="net")
    put = f"/api/2.0/mlflow-artifacts/artifacts/{experiment.experiment_id}/models/{model.model_id}/artifacts/d/f.txt"
    assert ask("PUT", put, raw=b"12345")[0] == 200
    status, answer = ask("GET", f"{API}/logged-models/{model.model_id}/artifacts/directories?artifact_directory_path=d")
    assert (status, answer["files"]) == (200, [{"path": "d/f.txt", "is_dir": False, "file_size": 5}])


def test_the_server_says_what_it_can(ask):
    status, answer = ask("GET", "/api/3.0/mlflow/server-info")
    assert status == 200
    assert answer["artifact_serving_enabled"] is True
    assert answer["multipart_uploads_enabled"] is False
    assert ask("GET", "/version", authorization="") == (200, b"3.17.2")
    assert ask("GET", "/health", authorization="") == (200, b"OK")


def test_experiments_are_searched_with_get_too(ask, experiment):
    text = urllib.parse.quote(f"name = '{experiment.name}'")
    status, answer = ask("GET", f"{API}/experiments/search?filter={text}&max_results=10")
    assert (status, len(answer["experiments"])) == (200, 1)
