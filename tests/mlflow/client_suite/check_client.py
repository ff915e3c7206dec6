"""MlflowClient, and what MLflow's own REST tests say of a server (re-stated)."""

import time

import mlflow
import pytest
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException


def test_default_experiment(fresh, client):
    assert [(e.experiment_id, e.name) for e in client.search_experiments()] == [("0", "Default")]
    assert client.get_experiment("0").lifecycle_stage == "active"
    run = client.create_run("0")
    assert run.info.experiment_id == "0"


def test_create_get_rename_delete_restore_experiment(fresh, client):
    made = client.create_experiment("one", tags={"a": "b"})
    found = client.get_experiment(made)
    assert (found.name, found.tags, found.artifact_location) == ("one", {"a": "b"}, f"mlflow-artifacts:/{made}")
    assert found.creation_time > 0
    client.rename_experiment(made, "two")
    assert client.get_experiment_by_name("two").experiment_id == made
    assert client.get_experiment_by_name("one") is None
    client.delete_experiment(made)
    assert client.get_experiment(made).lifecycle_stage == "deleted"
    assert {e.name for e in client.search_experiments()} == {"Default"}
    assert {e.name for e in client.search_experiments(view_type=ViewType.DELETED_ONLY)} == {"two"}
    assert {e.name for e in client.search_experiments(view_type=ViewType.ALL)} == {"two", "Default"}
    client.restore_experiment(made)
    assert client.get_experiment(made).lifecycle_stage == "active"


def test_a_name_is_taken_once(client, experiment):
    with pytest.raises(MlflowException, match="exists") as error:
        client.create_experiment(experiment.name)
    assert error.value.error_code == "RESOURCE_ALREADY_EXISTS"


@pytest.mark.parametrize("bad", ["", None])
def test_a_name_is_needed(client, bad):
    with pytest.raises(MlflowException) as error:
        client.create_experiment(bad)
    assert error.value.error_code == "INVALID_PARAMETER_VALUE"


def test_experiment_tags(client, experiment):
    client.set_experiment_tag(experiment.experiment_id, "k", "v")
    client.set_experiment_tag(experiment.experiment_id, "long\nvalue".replace("\n", " "), "line\nline ü")
    assert client.get_experiment(experiment.experiment_id).tags == {"k": "v", "long value": "line\nline ü"}
    client.delete_experiment_tag(experiment.experiment_id, "k")
    assert "k" not in client.get_experiment(experiment.experiment_id).tags
    with pytest.raises(MlflowException) as error:
        client.delete_experiment_tag(experiment.experiment_id, "k")
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"


def test_search_experiments(fresh, client):
    for name, tags in (("a", {"key": "value"}), ("ab", {"key": "vaLue"}), ("Abc", None)):
        client.create_experiment(name, tags=tags)
    names = lambda **more: [e.name for e in client.search_experiments(**more)]  # noqa: E731
    assert names(filter_string="attribute.name = 'a'") == ["a"]
    assert names(filter_string="attribute.name != 'a'", order_by=["name"]) == ["Abc", "Default", "ab"]
    assert sorted(names(filter_string="name LIKE 'a%'")) == ["a", "ab"]
    assert sorted(names(filter_string="name ILIKE 'a%'")) == ["Abc", "a", "ab"]
    assert names(filter_string="name ILIKE 'a%' AND tags.key ILIKE 'value'", order_by=["name DESC"]) == ["ab", "a"]
    assert names(filter_string="tags.key = 'value'") == ["a"]
    first = client.search_experiments(max_results=2, order_by=["name"])
    assert [e.name for e in first] == ["Abc", "Default"]
    second = client.search_experiments(max_results=2, order_by=["name"], page_token=first.token)
    assert [e.name for e in second] == ["a", "ab"]
    assert not second.token
    with pytest.raises(MlflowException, match="attribute key"):
        client.search_experiments(filter_string="nonsense = 'x'")


def test_create_run_with_everything(client, experiment):
    start = int(time.time() * 1000) - 5000
    run = client.create_run(
        experiment.experiment_id, start_time=start, tags={"a": "b", "mlflow.user": "jo"}, run_name="named"
    )
    assert (run.info.start_time, run.info.run_name, run.info.user_id) == (start, "named", "jo")
    assert run.info.status == "RUNNING"
    assert run.data.tags["a"] == "b"
    client.set_terminated(run.info.run_id, "KILLED", end_time=start + 1000)
    ended = client.get_run(run.info.run_id).info
    assert (ended.status, ended.end_time) == ("KILLED", start + 1000)


def test_create_run_in_a_missing_or_deleted_experiment(client, experiment):
    with pytest.raises(MlflowException) as error:
        client.create_run("123456789")
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"
    client.delete_experiment(experiment.experiment_id)
    with pytest.raises(MlflowException, match="must be in the 'active' state"):
        client.create_run(experiment.experiment_id)


def test_update_run(client, run):
    client.update_run(run.info.run_id, "FAILED", "renamed")
    found = client.get_run(run.info.run_id)
    assert (found.info.status, found.info.run_name) == ("FAILED", "renamed")
    assert found.data.tags["mlflow.runName"] == "renamed"
    client.set_tag(run.info.run_id, "mlflow.runName", "by tag")
    assert client.get_run(run.info.run_id).info.run_name == "by tag"


def test_delete_and_restore_a_run(client, run):
    run_id = run.info.run_id
    client.delete_run(run_id)
    assert client.get_run(run_id).info.lifecycle_stage == "deleted"
    with pytest.raises(MlflowException, match="must be in the 'active' state"):
        client.log_metric(run_id, "m", 1)
    assert len(client.search_runs([run.info.experiment_id])) == 0
    assert len(client.search_runs([run.info.experiment_id], run_view_type=ViewType.DELETED_ONLY)) == 1
    client.restore_run(run_id)
    client.log_metric(run_id, "m", 1)
    assert client.get_run(run_id).info.lifecycle_stage == "active"


def test_runs_of_a_deleted_experiment_are_deleted(client, run):
    client.delete_experiment(run.info.experiment_id)
    assert client.get_run(run.info.run_id).info.lifecycle_stage == "deleted"
    assert len(client.search_runs([run.info.experiment_id])) == 0
    client.restore_experiment(run.info.experiment_id)
    assert client.get_run(run.info.run_id).info.lifecycle_stage == "active"


@pytest.mark.parametrize("call", ["get_run", "delete_run", "restore_run", "set_terminated"])
def test_a_run_that_does_not_exist(client, call):
    with pytest.raises(MlflowException) as error:
        getattr(client, call)("0" * 32)
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"


def test_log_batch(client, run):
    now = int(time.time() * 1000)
    metrics = [Metric("m", i * 0.5, now + i, i) for i in range(1000)]
    client.log_batch(run.info.run_id, metrics=metrics)
    client.log_batch(run.info.run_id, params=[Param(f"p{i}", str(i)) for i in range(100)], tags=[RunTag("t", "v")])
    found = client.get_run(run.info.run_id)
    assert found.data.metrics == {"m": 499.5}
    assert len(found.data.params) == 100
    assert found.data.tags["t"] == "v"
    history = client.get_metric_history(run.info.run_id, "m")
    assert [(m.value, m.timestamp, m.step) for m in history] == [(i * 0.5, now + i, i) for i in range(1000)]


def test_a_repeated_batch_makes_no_second_point(client, run):
    metrics = [Metric("m", 1.0, 1700000000000, 3)]
    client.log_batch(run.info.run_id, metrics=metrics)
    client.log_batch(run.info.run_id, metrics=metrics)
    assert len(client.get_metric_history(run.info.run_id, "m")) == 1


def test_the_latest_value_has_the_largest_step_then_time(client, run):
    run_id = run.info.run_id
    for value, stamp, step in ((1.0, 1000, 5), (2.0, 2000, 3), (3.0, 500, 5), (4.0, 1000, 4)):
        client.log_metric(run_id, "m", value, timestamp=stamp, step=step)
    assert client.get_run(run_id).data.metrics["m"] == 1.0
    client.log_metric(run_id, "m", 9.0, timestamp=1000, step=5)
    assert client.get_run(run_id).data.metrics["m"] == 9.0
    client.log_metric(run_id, "m", -1.0, timestamp=0, step=-10)
    assert client.get_run(run_id).data.metrics["m"] == 9.0


def test_history_of_a_metric_that_does_not_exist(client, run):
    assert client.get_metric_history(run.info.run_id, "none") == []


@pytest.mark.parametrize("key", ["a b", "a/b", "a.b-c_d", "x:y", "ü-umlaut", "1"])
def test_keys_that_are_allowed(client, run, key):
    client.log_metric(run.info.run_id, key, 1)
    client.log_param(run.info.run_id, key, "v")
    client.set_tag(run.info.run_id, key, "v")
    found = client.get_run(run.info.run_id)
    assert found.data.metrics == {key: 1.0}
    assert found.data.params == {key: "v"}
    assert found.data.tags[key] == "v"


def test_long_and_strange_values(client, run):
    text = "ü\n\t'\"%_` " * 700
    client.log_param(run.info.run_id, "p", text[:6000])
    client.set_tag(run.info.run_id, "t", text[:5000])
    found = client.get_run(run.info.run_id)
    assert found.data.params["p"] == text[:6000]
    assert found.data.tags["t"] == text[:5000]


def test_delete_tag(client, run):
    client.set_tag(run.info.run_id, "t", "v")
    client.delete_tag(run.info.run_id, "t")
    with pytest.raises(MlflowException) as error:
        client.delete_tag(run.info.run_id, "t")
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"


def test_outputs_and_inputs(client, experiment, run):
    model = client.create_logged_model(experiment.experiment_id, name="m", source_run_id=run.info.run_id)
    client.log_outputs(run.info.run_id, [mlflow.entities.LoggedModelOutput(model.model_id, step=2)])
    client.log_inputs(run.info.run_id, models=[mlflow.entities.LoggedModelInput(model.model_id)])
    found = client.get_run(run.info.run_id)
    assert [(m.model_id, m.step) for m in found.outputs.model_outputs] == [(model.model_id, 2)]
    assert [m.model_id for m in found.inputs.model_inputs] == [model.model_id]


def test_delete_artifacts(client, run):
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    client.log_text(run.info.run_id, "x", "a/b.txt")
    client.log_text(run.info.run_id, "y", "a/c.txt")
    repository = get_artifact_repository(run.info.artifact_uri)
    repository.delete_artifacts("a/b.txt")
    assert [f.path for f in client.list_artifacts(run.info.run_id, "a")] == ["a/c.txt"]


def test_multipart_falls_back(client, run, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD", "true")
    monkeypatch.setenv("MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE", "1")
    (tmp_path / "f").write_bytes(b"x" * 100_000)
    client.log_artifact(run.info.run_id, str(tmp_path / "f"))
    assert client.list_artifacts(run.info.run_id)[0].file_size == 100_000
