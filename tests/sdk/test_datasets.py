"""Data sets with a real keeper: up, registered, down again; what is linked and what is fetched."""

from __future__ import annotations

import os
import pathlib

import pytest

from rookery.errors import (
    ConflictError,
    DataError,
    DatasetNotFoundError,
    DatastoreNotFoundError,
    UnsupportedError,
    UserError,
)
from rookery.sdk import DataPath, DataReference, Dataset, Datastore, Workspace
from rookery.testing.file_server import file_server

FILES = {"a/x 'q'.txt": b"1", "a/ünï日本.txt": b"22", 'b "q".bin': b"\0" * 2_000_000, "c.csv": b"n,v\na,1\n"}


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    """One keeper for the module: its tests use names of their own."""
    from tests.conftest import stop_keepers

    folder = tmp_path_factory.mktemp("data's home")
    before = os.environ.get("ROOKERY_HOME")
    os.environ["ROOKERY_HOME"] = str(folder)
    try:
        workspace = Workspace.create("data")
        workspace.client.request("GET", "/keeper")
        yield workspace
    finally:
        stop_keepers(str(folder))
        if before is None:
            os.environ.pop("ROOKERY_HOME")
        else:
            os.environ["ROOKERY_HOME"] = before


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "some source"
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "empty").mkdir()
    return str(folder)


def contents(folder):
    files = [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(file, folder): pathlib.Path(file).read_bytes() for file in files}


class TestDatastore:
    def test_the_two_that_every_workspace_has(self, ws):
        default = ws.get_default_datastore()
        assert (default.name, default.datastore_type) == ("workspaceblobstore", "AzureBlob")
        assert type(default).__name__ == "AzureBlobDatastore"
        assert Datastore(ws, "workspacefilestore").datastore_type == "AzureFile"
        assert Datastore(ws) == default
        assert {"workspaceblobstore", "workspacefilestore"} <= set(ws.datastores)
        assert default.container_name
        assert default.account_name

    def test_an_unknown_one(self, ws):
        with pytest.raises(DatastoreNotFoundError, match="Did you mean 'workspaceblobstore'"):
            Datastore.get(ws, "workspaceblobstor")
        with pytest.raises(UserError):  # what samples catch
            Datastore.get(ws, "none")

    def test_up_and_down(self, ws, source, tmp_path):
        store = ws.get_default_datastore()
        reference = store.upload(source, "updown", show_progress=False)
        assert isinstance(reference, DataReference)
        assert reference.path_on_datastore == "updown"
        with open(os.path.join(source, "c.csv"), "w") as f:
            f.write("changed")
        store.upload(source, "updown", show_progress=False)  # what is there stays
        assert store.download(str(tmp_path / "down"), "updown") == len(FILES)
        assert contents(tmp_path / "down" / "updown") == FILES
        assert os.path.isdir(tmp_path / "down" / "updown" / "empty")
        assert store.download(str(tmp_path / "down"), "updown") == 0
        store.upload(source, "updown", overwrite=True, show_progress=False)
        assert store.download(str(tmp_path / "again"), "updown/c.csv") == 1
        assert contents(tmp_path / "again") == {"updown/c.csv": b"changed"}

    def test_some_files(self, ws, source):
        store = ws.get_default_datastore()
        files = [os.path.join(source, "a", "x 'q'.txt"), os.path.join(source, "c.csv")]
        store.upload_files(files, relative_root=source, target_path="some", show_progress=False)
        store.upload_files(files, target_path="flat", show_progress=False)
        assert Dataset.File.from_files((store, "some")).to_path() == ["/a/x 'q'.txt", "/c.csv"]
        assert Dataset.File.from_files((store, "flat")).to_path() == ["/c.csv", "/x 'q'.txt"]
        with pytest.raises(UserError, match="outside of relative_root"):
            store.upload_files(files, relative_root=os.path.join(source, "a"))

    def test_what_cannot_be_sent(self, ws, source, tmp_path):
        store = ws.get_default_datastore()
        os.symlink("/not/there", os.path.join(source, "broken"))
        with pytest.raises(DataError, match="link to '/not/there'"):
            store.upload(source, "broken", show_progress=False)
        with pytest.raises(DataError):
            Dataset.File.from_files((store, "broken"))
        with pytest.raises(UserError, match="no folder"):
            store.upload(str(tmp_path / "none"))

    def test_a_folder_of_ones_own_as_the_default(self, ws, tmp_path):
        mine = Datastore.register_folder(ws, "mine", str(tmp_path))
        with pytest.raises(ConflictError, match="overwrite"):
            Datastore.register_folder(ws, "mine", str(tmp_path))
        mine.set_as_default()
        try:
            assert ws.get_default_datastore().name == "mine"
        finally:
            ws.set_default_datastore("workspaceblobstore")
        mine.unregister()
        assert "mine" not in ws.datastores
        with pytest.raises(DataError, match="no folder"):
            Datastore.register_folder(ws, "mine", str(tmp_path / "none"))
        with pytest.raises(UnsupportedError, match="SQL"):
            Datastore.register_azure_sql_database(ws, "sql", "s", "d")

    def test_a_library_that_is_missing_is_named(self, ws):
        with pytest.raises(DataError, match=r"rookery\[azure\]"):
            Datastore.register_azure_blob_container(ws, "az", "c", "a", account_key="a2V5")
        with pytest.raises(DataError, match=r"rookery\[gcs\]"):
            Datastore.register_gcs(ws, "g", "b", anonymous=True)


class TestFileDataset:
    def test_down_again(self, ws, source, tmp_path):
        store = ws.get_default_datastore()
        store.upload(source, "files", show_progress=False)
        dataset = Dataset.File.from_files(store.path("files"))
        assert dataset.to_path() == sorted("/" + path for path in FILES)
        paths = dataset.download(str(tmp_path / "down"))
        assert contents(tmp_path / "down") == FILES
        assert sorted(paths) == sorted(str(tmp_path / "down" / path) for path in FILES)
        with pytest.raises(DataError, match="exists"):
            dataset.download(str(tmp_path / "down"))
        dataset.download(str(tmp_path / "down"), overwrite=True)
        assert Dataset.File.from_files(DataPath(store, "files")).id == dataset.id

    def test_mounted_files_of_this_machine_are_links(self, ws, source, tmp_path):
        store = ws.get_default_datastore()
        store.upload(source, "mounted", show_progress=False)
        with Dataset.File.from_files((store, "mounted")).mount(str(tmp_path / "mnt")) as mounted:
            assert contents(mounted.mount_point) == FILES
            folder = store._data["spec"]["folder"]
            assert os.path.samefile(tmp_path / "mnt" / "c.csv", os.path.join(folder, "mounted", "c.csv"))  # no copy
        assert not os.path.exists(tmp_path / "mnt")
        assert Dataset.File.from_files((store, "mounted")).to_path()

    @pytest.mark.slow
    def test_fetched_from_a_web_server(self, ws, source, tmp_path):
        with file_server(source) as server:
            store = Datastore.register_http(ws, "web", server.url, overwrite=True)
            dataset = Dataset.File.from_files((store, ""))
            server.cut_next(2, after=500_000)
            dataset.download(str(tmp_path / "down"))
            assert contents(tmp_path / "down") == FILES
            single = Dataset.File.from_files(server.url + "/c.csv")
            single._workspace_object = ws
            assert single.to_path() == ["/c.csv"]
        with pytest.raises(DataError):
            dataset.download(str(tmp_path / "gone"))
        assert contents(tmp_path / "gone") == {}

    def test_fewer_files(self, ws, tmp_path):
        for i in range(20):
            (tmp_path / f"{i:02}").write_text(str(i))
        dataset = Dataset.File.from_files(str(tmp_path))
        dataset._workspace_object = ws
        assert dataset.take(2).to_path() == ["/00", "/01"]
        assert dataset.skip(18).take(1).to_path() == ["/18"]
        first, second = dataset.random_split(0.7, seed=3)
        assert (len(first.to_path()), len(second.to_path())) == (14, 6)
        assert sorted(first.to_path() + second.to_path()) == dataset.to_path()
        assert dataset.random_split(0.7, seed=3)[0].to_path() == first.to_path()
        assert dataset.random_split(0.7, seed=4)[0].to_path() != first.to_path()
        assert dataset.take_sample(0.5, seed=1).to_path() == dataset.take_sample(0.5, seed=1).to_path()

    def test_what_from_files_takes(self, ws):
        store = ws.get_default_datastore()
        with pytest.raises(DataError, match="There is no"):
            Dataset.File.from_files((store, "not there"))
        Dataset.File.from_files((store, "not there"), validate=False)
        for wrong in (3, [], None):
            with pytest.raises(UserError, match="path is"):
                Dataset.File.from_files(wrong)
        with pytest.raises(UserError, match="neither a URL nor a path"):
            Dataset.File.from_files("not/there")


class TestRegistered:
    def test_versions(self, ws, source):
        store = ws.get_default_datastore()
        store.upload(source, "reg", show_progress=False)
        first = Dataset.File.from_files((store, "reg")).register(ws, "registered", "words", {"a": 1})
        assert (first.name, first.version, first.description, first.tags) == ("registered", 1, "words", {"a": "1"})
        other = Dataset.File.from_files((store, "reg/a"))
        with pytest.raises(ConflictError, match="create_new_version"):
            other.register(ws, "registered")
        second = other.register(ws, "registered", create_new_version=True)
        assert second.version == 2
        assert Dataset.get_by_name(ws, "registered").version == 2
        assert Dataset.get_by_name(ws, "registered", version=1).id == first.id
        assert Dataset.get_by_name(ws, "registered", version="latest").id == second.id
        assert ws.datasets["registered"].version == 2
        assert Dataset.get_by_id(ws, first.id).to_path() == first.to_path()
        assert first.add_tags({"b": "2"}).tags == {"a": "1", "b": "2"}
        assert first.remove_tags(["a"]).tags == {"b": "2"}
        assert first.update(tags={"c": "3"}, description="d").tags == {"c": "3"}
        second.unregister_all_versions()
        with pytest.raises(DatasetNotFoundError):
            Dataset.get_by_name(ws, "registered")
        for nothing in (None, "nest"):
            with pytest.raises(UserError, match=r"no Workspace. Give one: `Workspace.from_config\(\)`"):
                Dataset.get_by_name(nothing, "registered")
        with pytest.raises(UserError, match="no Workspace"):
            Dataset.get_by_id(None, first.id)
        with pytest.raises(UserError, match="not registered"):
            other.add_tags({"a": "b"})

    def test_secrets(self, ws):
        vault = ws.get_default_keyvault()
        vault.set_secrets({"one": "1", "two": "2"})
        assert vault.get_secrets(["one", "none"]) == {"one": "1", "none": None}
        vault.delete_secret("one")
        assert {"name": "one"} not in vault.list_secrets()


class TestOpenDatasets:
    def test_a_name_stands_for_ones_own_data(self, ws, tmp_path, monkeypatch):
        from rookery.azureml.opendatasets import MNIST

        monkeypatch.setattr(Workspace, "from_config", staticmethod(lambda *a, **k: ws))
        with pytest.raises(DatasetNotFoundError, match="rookery data add mnist"):
            MNIST.get_file_dataset()
        (tmp_path / "digits").write_text("1")
        dataset = Dataset.File.from_files(str(tmp_path / "digits"))
        dataset.register(ws, "mnist")
        assert MNIST.get_file_dataset().to_path() == ["/digits"]
        with pytest.raises(UserError, match="get_file_dataset"):
            MNIST.get_tabular_dataset()
