"""Registered models, versions, aliases, stages."""

import pathlib
import uuid

import mlflow
import pytest
from mlflow.exceptions import MlflowException


@pytest.fixture
def name(client):
    name = "model " + uuid.uuid4().hex[:8]
    client.create_registered_model(name, tags={"a": "b"}, description="words")
    return name


@pytest.fixture
def source(client, run):
    client.log_text(run.info.run_id, "weights", "net/weights.txt")
    return run.info.artifact_uri + "/net"


def test_create_get_update_rename_delete(client, name):
    found = client.get_registered_model(name)
    assert (found.description, found.tags) == ("words", {"a": "b"})
    assert client.update_registered_model(name, "other").description == "other"
    client.set_registered_model_tag(name, "c", "d")
    client.delete_registered_model_tag(name, "a")
    client.rename_registered_model(name, name + " two")
    assert client.get_registered_model(name + " two").tags == {"c": "d"}
    client.delete_registered_model(name + " two")
    with pytest.raises(MlflowException) as error:
        client.get_registered_model(name + " two")
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"


def test_a_name_is_taken_once(client, name):
    with pytest.raises(MlflowException) as error:
        client.create_registered_model(name)
    assert error.value.error_code == "RESOURCE_ALREADY_EXISTS"


@pytest.mark.parametrize("bad", ["a/b", "a:b", ""])
def test_names_that_are_none(client, bad):
    with pytest.raises(MlflowException) as error:
        client.create_registered_model(bad)
    assert error.value.error_code == "INVALID_PARAMETER_VALUE"


def test_versions(client, name, run, source, tmp_path):
    one = client.create_model_version(name, source, run.info.run_id, tags={"x": "y"}, description="first")
    two = client.create_model_version(name, source, run.info.run_id)
    assert (one.version, two.version) == ("1", "2")
    assert (one.run_id, one.source, one.status, one.current_stage) == (run.info.run_id, source, "READY", "None")
    found = client.get_model_version(name, "1")
    assert (found.description, found.tags) == ("first", {"x": "y"})
    assert client.get_model_version_download_uri(name, "1") == source
    assert client.update_model_version(name, "1", "changed").description == "changed"
    client.set_model_version_tag(name, "1", "k", "v")
    client.delete_model_version_tag(name, "1", "x")
    assert client.get_model_version(name, "1").tags == {"k": "v"}
    got = mlflow.artifacts.download_artifacts(artifact_uri=f"models:/{name}/2", dst_path=str(tmp_path))
    assert pathlib.Path(got, "weights.txt").read_text() == "weights"
    client.delete_model_version(name, "1")
    with pytest.raises(MlflowException) as error:
        client.get_model_version(name, "1")
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"
    assert client.create_model_version(name, source).version == "3"


def test_aliases(client, name, source):
    client.create_model_version(name, source)
    client.create_model_version(name, source)
    client.set_registered_model_alias(name, "champion", "1")
    assert client.get_model_version_by_alias(name, "champion").version == "1"
    client.set_registered_model_alias(name, "champion", "2")
    assert client.get_model_version_by_alias(name, "champion").version == "2"
    assert client.get_registered_model(name).aliases == {"champion": "2"}
    assert client.get_model_version(name, "2").aliases == ["champion"]
    client.delete_registered_model_alias(name, "champion")
    with pytest.raises(MlflowException, match="not found"):
        client.get_model_version_by_alias(name, "champion")
    for bad in ("latest", "v1", "a b"):
        with pytest.raises(MlflowException) as error:
            client.set_registered_model_alias(name, bad, "1")
        assert error.value.error_code == "INVALID_PARAMETER_VALUE"


@pytest.mark.filterwarnings("ignore")
def test_stages(client, name, source):
    client.create_model_version(name, source)
    client.create_model_version(name, source)
    assert client.transition_model_version_stage(name, "1", "Production").current_stage == "Production"
    assert [v.version for v in client.get_latest_versions(name, ["Production"])] == ["1"]
    client.transition_model_version_stage(name, "2", "production", archive_existing_versions=True)
    assert client.get_model_version(name, "1").current_stage == "Archived"
    assert {v.version: v.current_stage for v in client.get_latest_versions(name)} == {
        "1": "Archived",
        "2": "Production",
    }
    with pytest.raises(MlflowException, match="Invalid Model Version stage"):
        client.transition_model_version_stage(name, "1", "Nonsense")


def test_search_models(fresh, client):
    for model in ("aa", "ab", "Ac"):
        client.create_registered_model(model, tags={"t": model})
    names = lambda *args, **more: [m.name for m in client.search_registered_models(*args, **more)]  # noqa: E731
    assert names() == ["Ac", "aa", "ab"]
    assert names("name = 'aa'") == ["aa"]
    assert names("name LIKE 'a%'") == ["aa", "ab"]
    assert sorted(names("name ILIKE 'a%'")) == ["Ac", "aa", "ab"]
    assert names("tags.t = 'ab'") == ["ab"]
    assert names(order_by=["name DESC"]) == ["ab", "aa", "Ac"]
    first = client.search_registered_models(max_results=2)
    assert [m.name for m in client.search_registered_models(page_token=first.token)] == ["ab"]
    with pytest.raises(MlflowException):
        client.search_registered_models("nonsense = 'x'")


def test_search_versions(client, name, run, source):
    client.create_model_version(name, source, run.info.run_id, tags={"k": "v"})
    client.create_model_version(name, source)
    versions = lambda text: sorted(v.version for v in client.search_model_versions(text))  # noqa: E731
    assert versions(f"name = '{name}'") == ["1", "2"]
    assert versions(f"name = '{name}' and run_id = '{run.info.run_id}'") == ["1", "2"]
    assert versions(f"name = '{name}' and tags.k = 'v'") == ["1"]
    assert versions(f"name = '{name}' and version_number > 1") == ["2"]
    assert versions(f"source_path = '{source}' and name IN ('{name}')") == ["1", "2"]


def test_copy_a_version(client, name, source):
    client.create_model_version(name, source)
    copied = client.copy_model_version(f"models:/{name}/1", name + " copy")
    assert (copied.name, copied.version) == (name + " copy", "1")
    assert "mlflow-artifacts:/" in client.get_model_version_download_uri(name + " copy", "1")


def test_a_path_on_a_disk_is_no_source(client, name):
    with pytest.raises(MlflowException, match="source") as error:
        client.create_model_version(name, "file:///etc")
    assert error.value.error_code == "INVALID_PARAMETER_VALUE"
