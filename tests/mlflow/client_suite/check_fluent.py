"""The fluent API."""

import json
import math
import os
import pathlib

import mlflow
import pytest
from mlflow.exceptions import MlflowException


def test_start_log_and_end_a_run(client, experiment):
    with mlflow.start_run(run_name="first", description="words", tags={"a": "b"}) as active:
        mlflow.log_param("lr", 0.1)
        mlflow.log_params({"depth": 3, "kind": "x"})
        mlflow.log_metric("loss", 0.5)
        mlflow.log_metric("loss", 0.25, step=1)
        mlflow.log_metrics({"acc": 0.9, "f1": 0.8}, step=7)
        mlflow.set_tag("one", 1)
        mlflow.set_tags({"two": 2, "three": "3"})
        assert client.get_run(active.info.run_id).info.status == "RUNNING"
    run = client.get_run(active.info.run_id)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "first")
    assert run.info.end_time >= run.info.start_time
    assert run.data.params == {"lr": "0.1", "depth": "3", "kind": "x"}
    assert run.data.metrics == {"loss": 0.25, "acc": 0.9, "f1": 0.8}
    assert run.data.tags["one"] == "1"
    assert run.data.tags["three"] == "3"
    assert run.data.tags["a"] == "b"
    assert run.data.tags["mlflow.note.content"] == "words"
    assert run.data.tags["mlflow.runName"] == "first"
    assert run.info.artifact_uri == f"mlflow-artifacts:/{experiment.experiment_id}/{run.info.run_id}/artifacts"


def test_a_name_is_invented(experiment):
    with mlflow.start_run() as run:
        assert run.info.run_name
        assert run.data.tags["mlflow.runName"] == run.info.run_name


def test_an_exception_makes_it_failed(client, experiment):
    with pytest.raises(ZeroDivisionError), mlflow.start_run() as run:
        _ = 1 / 0
    assert client.get_run(run.info.run_id).info.status == "FAILED"


def test_nested_runs(client, experiment):
    with mlflow.start_run() as parent, mlflow.start_run(nested=True) as child:
        mlflow.log_metric("x", 1)
    found = mlflow.search_runs(filter_string=f"tags.mlflow.parentRunId = '{parent.info.run_id}'")
    assert list(found.run_id) == [child.info.run_id]
    assert mlflow.get_parent_run(child.info.run_id).info.run_id == parent.info.run_id


def test_resume_a_run(client, experiment):
    with mlflow.start_run() as run:
        mlflow.log_metric("x", 1)
    with mlflow.start_run(run_id=run.info.run_id):
        assert client.get_run(run.info.run_id).info.status == "RUNNING"
        mlflow.log_metric("x", 2)
    again = client.get_run(run.info.run_id)
    assert again.info.status == "FINISHED"
    assert len(client.get_metric_history(run.info.run_id, "x")) == 2


def test_numbers_that_json_has_not(client, experiment):
    with mlflow.start_run() as run:
        mlflow.log_metric("nan", float("nan"))
        mlflow.log_metric("up", float("inf"))
        mlflow.log_metric("down", float("-inf"))
        mlflow.log_metrics({"more": float("nan")})
    metrics = client.get_run(run.info.run_id).data.metrics
    assert math.isnan(metrics["nan"])
    assert math.isnan(metrics["more"])
    assert metrics["up"] == math.inf
    assert metrics["down"] == -math.inf
    assert math.isnan(client.get_metric_history(run.info.run_id, "nan")[0].value)


def test_asynchronous_logging(client, experiment):
    with mlflow.start_run() as run:
        for step in range(50):
            mlflow.log_metric("m", step, step=step, synchronous=False)
        mlflow.log_param("p", "v", synchronous=False).wait()
    mlflow.flush_async_logging()
    # The client sends from several threads, in any order.
    assert sorted(m.value for m in client.get_metric_history(run.info.run_id, "m")) == list(map(float, range(50)))
    assert client.get_run(run.info.run_id).data.params == {"p": "v"}


def test_artifacts(client, experiment, tmp_path):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "a.txt").write_text("a")
    (tmp_path / "folder" / "deep" / "b with space.txt").write_text("b")
    with mlflow.start_run() as run:
        mlflow.log_artifact(str(tmp_path / "folder" / "a.txt"))
        mlflow.log_artifacts(str(tmp_path / "folder"), "all")
        mlflow.log_text("hello", "texts/hello.txt")
        mlflow.log_dict({"k": [1, 2]}, "d.json")
    names = {f.path: f for f in client.list_artifacts(run.info.run_id)}
    assert set(names) == {"a.txt", "all", "texts", "d.json"}
    assert names["all"].is_dir
    assert names["a.txt"].file_size == 1
    assert [f.path for f in client.list_artifacts(run.info.run_id, "all")] == ["all/a.txt", "all/deep"]
    assert client.list_artifacts(run.info.run_id, "a.txt") == []
    got = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path="all", dst_path=str(tmp_path / "got")
    )
    assert pathlib.Path(got, "deep", "b with space.txt").read_text() == "b"
    assert mlflow.artifacts.load_text(run.info.artifact_uri + "/texts/hello.txt") == "hello"
    assert mlflow.artifacts.load_dict(run.info.artifact_uri + "/d.json") == {"k": [1, 2]}


def test_empty_and_large_artifacts(client, experiment, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "large").write_bytes(os.urandom(1024) * (20 * 1024))
    with mlflow.start_run() as run:
        mlflow.log_artifact(str(tmp_path / "empty"))
        mlflow.log_artifact(str(tmp_path / "large"))
    assert {f.path: f.file_size for f in client.list_artifacts(run.info.run_id)} == {
        "empty": 0,
        "large": 20 * 1024 * 1024,
    }
    (tmp_path / "got").mkdir()
    got = client.download_artifacts(run.info.run_id, "large", str(tmp_path / "got"))
    assert pathlib.Path(got).read_bytes() == (tmp_path / "large").read_bytes()


def test_tables_images_and_figures(client, experiment):
    import numpy

    with mlflow.start_run() as run:
        mlflow.log_table({"a": [1, 2], "b": ["x", "y"]}, "t.json")
        mlflow.log_table({"a": [3], "b": ["z"]}, "t.json")
        mlflow.log_image(numpy.zeros((8, 8, 3), dtype="uint8"), key="img", step=0)
        mlflow.log_image(numpy.zeros((8, 8, 3), dtype="uint8"), "plain.png")
    assert len(mlflow.load_table("t.json", run_ids=[run.info.run_id])) == 3
    assert any("+" in f.path for f in client.list_artifacts(run.info.run_id, "images"))
    assert json.loads(client.get_run(run.info.run_id).data.tags["mlflow.loggedArtifacts"])


def test_datasets(client, experiment):
    import pandas

    dataset = mlflow.data.from_pandas(pandas.DataFrame({"x": [1, 2]}), name="birds", source="here.csv")
    with mlflow.start_run() as run:
        mlflow.log_input(dataset, context="training")
        mlflow.log_metric("on", 1.0, dataset=dataset)
    found = client.get_run(run.info.run_id).inputs.dataset_inputs
    assert [(d.dataset.name, d.tags[0].value) for d in found] == [("birds", "training")]
    assert len(mlflow.search_runs(filter_string="dataset.name = 'birds' and dataset.context = 'training'")) == 1
    assert len(mlflow.search_runs(filter_string="dataset.name = 'fish'")) == 0


def test_set_experiment_by_id_and_again(client):
    made = client.create_experiment("by id /: strange ü", tags={"k": "v"})
    assert mlflow.set_experiment(experiment_id=made).name == "by id /: strange ü"
    assert mlflow.set_experiment("by id /: strange ü").experiment_id == made


def test_writing_a_parameter_twice(client, experiment):
    with mlflow.start_run():
        mlflow.log_param("p", 1)
        mlflow.log_param("p", 1)
        with pytest.raises(MlflowException, match="Changing param values is not allowed"):
            mlflow.log_param("p", 2)


def test_delete_and_last_active_run(client, experiment):
    with mlflow.start_run() as run:
        mlflow.set_tag("t", "1")
        mlflow.delete_tag("t")
    assert "t" not in client.get_run(run.info.run_id).data.tags
    mlflow.delete_run(run.info.run_id)
    assert client.get_run(run.info.run_id).info.lifecycle_stage == "deleted"
    assert len(mlflow.search_runs()) == 0


def test_system_metrics(client, experiment):
    with mlflow.start_run(log_system_metrics=False) as run:
        mlflow.log_metric("system/cpu", 1.0)
    assert client.get_run(run.info.run_id).data.metrics == {"system/cpu": 1.0}
