from __future__ import annotations

import io

import pytest

from rookery.errors import ModelError, ModelNotFoundError, UnsupportedError, UserError
from rookery.sdk import Model, Workspace
from rookery.sdk.progress import CountedWriter, Progress
from tests.sdk.fake_keeper import FakeKeeper


@pytest.fixture
def keeper():
    return FakeKeeper()


@pytest.fixture
def ws(keeper):
    return Workspace._of_client(keeper)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "my model"
    (made / "sub").mkdir(parents=True)
    (made / "weights.pt").write_bytes(b"weights")
    (made / "sub" / "labels.txt").write_bytes(b"chicken\nturkey\n")
    return made


class TestRegister:
    def test_a_file_keeps_its_name(self, keeper, ws, folder):
        model = Model.register(
            ws, str(folder / "weights.pt"), "birds", tags={"n": 1}, model_framework=Model.Framework.PYTORCH
        )
        assert (model.name, model.version, model.id, model.tags) == ("birds", 1, "birds:1", {"n": "1"})
        assert model.model_framework == "PyTorch"
        assert [f["path"] for f in keeper.models[0]["files"]] == ["weights.pt"]
        assert model.run is None

    def test_a_folder_keeps_its_name_and_child_paths_choose(self, keeper, ws, folder):
        Model.register(ws, str(folder), "birds")
        assert {f["path"] for f in keeper.models[0]["files"]} == {
            "my model/weights.pt",
            "my model/sub/labels.txt",
        }
        Model.register(ws, str(folder), "birds", child_paths=["sub"])
        assert [f["path"] for f in keeper.models[1]["files"]] == ["my model/sub/labels.txt"]

    def test_bytes_that_are_stored_do_not_travel(self, keeper, ws, folder, monkeypatch):
        Model.register(ws, str(folder), "birds")
        monkeypatch.setattr(keeper, "upload", lambda *a, **k: pytest.fail("was uploaded again"))
        assert Model.register(ws, str(folder), "birds").version == 2

    def test_what_is_wrong_is_said(self, ws, folder, tmp_path):
        with pytest.raises(ModelError, match="no file or folder"):
            Model.register(ws, str(tmp_path / "nothing"), "birds")
        with pytest.raises(UserError, match="not a valid model name"):
            Model.register(ws, str(folder), "my birds")
        with pytest.raises(UserError, match="outside"):
            Model.register(ws, str(folder), "birds", child_paths=["../x"])
        with pytest.raises(UserError, match="is a file"):
            Model.register(ws, str(folder / "weights.pt"), "birds", child_paths=["x"])
        (tmp_path / "empty").mkdir()
        with pytest.raises(ModelError, match="holds no files"):
            Model.register(ws, str(tmp_path / "empty"), "birds")


class TestLookUp:
    @pytest.fixture(autouse=True)
    def _models(self, ws, folder):
        for n in range(3):
            Model.register(ws, str(folder / "weights.pt"), "birds", tags={"n": n})
        Model.register(ws, str(folder), "eggs", properties={"p": "1"}, model_framework="Onnx")

    def test_by_name_is_the_latest(self, ws):
        assert Model(ws, "birds").version == 3
        assert Model(ws, name="birds", version=2).id == "birds:2"
        assert Model(ws, id="birds:1").version == 1
        assert ws.models["birds"].version == 3

    def test_by_tags_properties_and_framework(self, ws):
        assert Model(ws, "birds", tags={"n": "1"}).version == 2
        assert Model(ws, "birds", tags=[["n", 0]]).version == 1
        assert Model(ws, properties={"p": "1"}).name == "eggs"
        assert Model(ws, model_framework="Onnx").name == "eggs"

    def test_a_missing_one_lists_the_known(self, ws):
        with pytest.raises(ModelNotFoundError, match=r"'ducks' does not exist. Known models: birds, eggs"):
            Model(ws, "ducks")
        with pytest.raises(ModelNotFoundError, match="version 9"):
            Model(ws, "birds", version=9)
        with pytest.raises(UserError, match="name:version"):
            Model(ws, id="birds")
        with pytest.raises(UserError, match="Say which model"):
            Model(ws)

    def test_list(self, ws):
        assert [m.id for m in Model.list(ws)] == ["eggs:1", "birds:3", "birds:2", "birds:1"]
        assert [m.id for m in Model.list(ws, latest=True)] == ["eggs:1", "birds:3"]
        assert [m.id for m in Model.list(ws, name="birds", tags={"n": 0})] == ["birds:1"]

    def test_serialize_and_back(self, ws):
        payload = Model(ws, "eggs").serialize()
        assert payload["id"] == "eggs:1"
        assert payload["framework"] == "Onnx"
        assert Model.deserialize(ws, payload).name == "eggs"

    def test_changes(self, ws):
        model = Model(ws, "birds")
        model.add_tags({"good": True})
        model.remove_tags(["n"])
        model.add_properties({"p": 2})
        assert (model.tags, model.properties) == ({"good": "True"}, {"p": "2"})
        model.update(tags={"only": "this"}, description="better")
        assert Model(ws, "birds").tags == {"only": "this"}
        assert model.description == "better"
        model.delete()
        assert Model(ws, "birds").version == 2

    def test_what_comes_later_says_so(self, ws):
        with pytest.raises(UnsupportedError, match=r"Model\.get_sas_urls"):
            Model(ws, "birds").get_sas_urls()


class TestDownload:
    def test_a_file(self, ws, folder, tmp_path):
        model = Model.register(ws, str(folder / "weights.pt"), "birds")
        path = model.download(str(tmp_path / "to"))
        assert path == str(tmp_path / "to" / "weights.pt")
        assert (tmp_path / "to" / "weights.pt").read_bytes() == b"weights"
        with pytest.raises(ModelError, match="exist_ok"):
            model.download(str(tmp_path / "to"))
        (tmp_path / "to" / "weights.pt").write_bytes(b"old")
        assert model.download(str(tmp_path / "to"), exist_ok=True) == path
        assert (tmp_path / "to" / "weights.pt").read_bytes() == b"weights"

    def test_a_folder(self, ws, folder, tmp_path):
        path = Model.register(ws, str(folder), "birds").download(str(tmp_path / "to"))
        assert path == str(tmp_path / "to" / "my model")
        assert (tmp_path / "to" / "my model" / "sub" / "labels.txt").read_bytes() == b"chicken\nturkey\n"

    def test_damaged_bytes_are_not_left_behind(self, keeper, ws, folder, tmp_path):
        model = Model.register(ws, str(folder / "weights.pt"), "birds")
        for sha256 in keeper.content:
            keeper.content[sha256] = b"other"
        with pytest.raises(ModelError, match="damaged"):
            model.download(str(tmp_path / "to"))
        assert list((tmp_path / "to").iterdir()) == []


class TestModelPath:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("AML_APP_ROOT", raising=False)

    def test_deployed_models_come_first_the_newest_version_of_them(self, tmp_path):
        for version in ("9", "10"):
            (tmp_path / "azureml-models" / "birds" / version).mkdir(parents=True)
            (tmp_path / "azureml-models" / "birds" / version / "m.pt").touch()
        assert Model.get_model_path("birds") == "azureml-models/birds/10/m.pt"
        assert Model.get_model_path("birds", version=9) == "azureml-models/birds/9/m.pt"
        (tmp_path / "azureml-models" / "birds" / "9" / "second").touch()
        with pytest.raises(ModelError, match="exactly one"):
            Model.get_model_path("birds", version=9)

    def test_then_the_current_folder(self, tmp_path):
        (tmp_path / "birds").touch()
        assert Model.get_model_path("birds") == "./birds"

    def test_then_the_workspace(self, ws, folder):
        Model.register(ws, str(folder / "weights.pt"), "birds")
        assert Model.get_model_path("birds", _workspace=ws) == "azureml-models/birds/1/weights.pt"
        assert Model.get_model_path("birds") == "azureml-models/birds/1/weights.pt"

    def test_else_it_says_where_it_looked(self):
        with pytest.raises(ModelNotFoundError, match="azureml-models/birds"):
            Model.get_model_path("birds")


class TestProgress:
    def test_is_silent_for_small_things_and_without_a_terminal(self):
        out = io.StringIO()
        with Progress("Uploading", 10**9, out) as bar:
            bar.add(10**8)
        assert out.getvalue() == ""

    def test_draws_on_a_terminal(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        out = Terminal()
        with Progress("Uploading", 200 * 1024 * 1024, out) as bar:
            bar.add(100 * 1024 * 1024)
        assert "50% 100 of 200 MB" in out.getvalue()

    def test_a_download_that_begins_again_is_counted_once(self):
        bar = Progress("x", 10)
        writer = CountedWriter(io.BytesIO(), bar)
        writer.write(b"12345")
        writer.seek(0)
        writer.truncate()
        writer.write(b"12345")
        assert bar.done_bytes == 5
